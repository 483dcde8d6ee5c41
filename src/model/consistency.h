#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace capstan::model {

/// A row that contradicts itself, another row or the catalog. Tables and fields are named as in a snapshot file.
struct Inconsistency {
  std::string table;     ///< "nodes", "catalog.domains"
  std::uint32_t id = 0;  ///< id of the row; in the catalog its position
  std::string field;     ///< field of the row, "domains.rack"; empty: the whole row
  std::string message;   ///< text with the finding and the expected value
};

/// Returns the first contradiction of a snapshot, or nothing if all rows agree. It checks that references are valid,
/// the domains of a topology form a tree, phases agree with bindings, replica numbers are unique, and no time is after
/// `snapshot.at`. Ids inside the catalog must be valid already, and a domain's parent must come before the domain.
std::optional<Inconsistency> find_inconsistency(const Snapshot& snapshot);

/// Checks the catalog alone: topologies, domains, offerings, pools, queues and services.
std::optional<Inconsistency> find_inconsistency(const Catalog& catalog);
/// Returns the fault of a preferred level that is neither the required one nor narrower in the same topology.
std::optional<std::string> preference_fault(const Catalog& catalog, Level required, std::optional<Level> preferred);

}  // namespace capstan::model
