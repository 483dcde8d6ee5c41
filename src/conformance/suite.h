#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "conformance/case_input.h"
#include "conformance/value.h"

namespace capstan::conformance {

/// One row of a case file: an input for a peer, and the answer that the peer's own tests expect.
struct Case {
  std::string id;
  std::string kind;  ///< part of the peer that the case tests; "" if the whole file tests one part
  Value given;
  Value expect;  ///< expected fields of the answer; other fields are not compared
};

/// Parses the `cases` of a file `{source, schema, cases: [{id, kind?, given, expect}]}`.
/// @return an error if the text is not JSON, has more than 100 000 rows, or has a row without these parts
Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file);

/// Allowed deviation of a field. Other fields may deviate by 1e-9 relatively, and integers not at all.
struct Tolerance {
  std::string_view field;
  double absolute = 0;
  double relative = 0;     ///< relative to the larger of the two
  bool any_order = false;  ///< true for a list that the peer treats as a set
};

/// The test suite of one peer, with the function that computes the peer's answers.
struct Suite {
  std::string_view name;  ///< stem of its case file
  /// Computes the answer to a case's input, as an object. Returns nothing if the kind is unknown. `given` records
  /// unreadable input.
  std::optional<Value> (*answer)(std::string_view kind, const CaseInput& given);
  std::span<const Tolerance> tolerances;
};

/// Returns null if no suite has this name.
const Suite* find_suite(std::string_view name);
/// Returns all names as "hpa, kpa, ...".
std::string suite_names();

}  // namespace capstan::conformance
