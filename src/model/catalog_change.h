#pragma once

#include "model/catalog.h"

namespace capstan::model {

/// The tables of a catalog in which two snapshots differ.
struct CatalogChange {
  bool gpu_kinds = false;
  bool domains = false;    ///< topologies and their domains
  bool offerings = false;  ///< instance types and prices
  bool pools = false;      ///< pools and the limits of the fleet
  bool queues = false;
  bool services = false;
  bool eligibility = false;  ///< classes of pods and nodes, requests of pods, names of extended resources
  friend bool operator==(const CatalogChange&, const CatalogChange&) = default;

  bool any() const { return *this != CatalogChange{}; }
};

/// Returns the tables in which two catalogs differ. It costs nothing if both are one object.
CatalogChange changes_between(const Catalog& before, const Catalog& after);

}  // namespace capstan::model
