#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace capstan::model {

/// A row that contradicts itself, another row or the catalog. Tables and fields have the names of a snapshot file.
struct Inconsistency {
  std::string table;     ///< "nodes", "catalog.domains"
  std::uint32_t id = 0;  ///< of the row; in the catalog its position
  std::string field;     ///< of the row, "domains.rack"; empty: the row as a whole
  std::string message;   ///< what was found and what was expected
};

/// Returns the first contradiction of a snapshot, or nothing if every row agrees with the others: references lead
/// somewhere, domains form one tree, phases fit the bindings, each replica has its own number, and nothing happened
/// after `snapshot.at`. Ids inside the catalog must already lead somewhere, and a domain's parent stand before it.
std::optional<Inconsistency> find_inconsistency(const Snapshot& snapshot);

/// The part of it that needs no row: domains, offerings and services of the catalog.
std::optional<Inconsistency> find_inconsistency(const Catalog& catalog);

}  // namespace capstan::model
