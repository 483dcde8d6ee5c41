#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "conformance/given.h"
#include "conformance/value.h"

namespace capstan::conformance {

/// One row of a neutral case file: what a peer is told, and what it answers by its own tests.
struct Case {
  std::string id;
  std::string kind;  ///< which part of the peer is asked; "" where a file has one kind only
  Value given;
  Value expect;  ///< may list some fields of the answer only: the others are not compared
};

/// The `cases` of a file `{source, schema, cases: [{id, kind?, given, expect}]}`.
/// @return an error for what is not JSON, or a row without these parts; at most 100 000 rows
Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file);

/// How far a number of this name may be from what is expected. Others: 1e-9 of their size, whole numbers not at all.
struct Tolerance {
  std::string_view field;
  double absolute = 0;
  double relative = 0;     ///< of the larger of the two
  bool any_order = false;  ///< a list that is a set to the peer
};

/// One peer: turns what a case gives into an object of fields, as the peer would answer.
struct Suite {
  std::string_view name;  ///< the stem of its case file
  /// Nothing: there is no such kind of case. What cannot be read is noted by `given`.
  std::optional<Value> (*answer)(std::string_view kind, const Given& given);
  std::span<const Tolerance> tolerances;
};

/// Null where no peer has this name.
const Suite* find_suite(std::string_view name);
/// All of them, "hpa, kpa, ...".
std::string suite_names();

}  // namespace capstan::conformance
