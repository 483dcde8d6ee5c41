#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "conformance/peers.h"
#include "conformance/value.h"

namespace capstan::conformance {

/// One row of a case file: an input for a peer, and the answer that the peer's own tests expect.
struct Case {
  std::string id;
  std::string kind;  ///< part of the peer that the case tests; "" if the file states none, and then the case fails
  Value given;
  Value expect;  ///< expected fields of the answer; other fields are not compared
};

/// Parses the `cases` of a file `{source, schema, cases: [{id, kind, given, expect}]}`.
/// @return an error if the text is not JSON, has no list `cases` or more than 100 000 rows, or has a row without `id`,
/// `given` or `expect`
Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file);

/// Allowed deviation of a field. Other fields may deviate by 1e-9 relatively, and integers not at all.
struct Tolerance {
  std::string_view field;
  double absolute = 0;
  double relative = 0;     ///< relative to the larger of the two
  bool any_order = false;  ///< true for a list that the peer treats as a set
};

/// The test suite of one peer.
struct Suite {
  std::string_view name;  ///< stem of its case file
  std::span<const Kind> kinds;
  std::span<const Tolerance> tolerances;

  /// Returns null if the suite has no such kind.
  const Kind* find_kind(std::string_view kind) const;
  /// Returns the kinds for an error message: "one of target, window_max (did you mean target?)".
  std::string kind_words(std::string_view found) const;
};

/// Returns null if no suite has this name.
const Suite* find_suite(std::string_view name);
/// Returns all names as "hpa, kpa, ...".
std::string suite_names();

}  // namespace capstan::conformance
