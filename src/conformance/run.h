#pragma once

#include <string>
#include <vector>

#include "conformance/suite.h"

namespace capstan::conformance {

/// A field whose value differs from the expected one.
struct Difference {
  std::string field;     ///< "replicas", "steps[2].desired"
  std::string expected;  ///< value as JSON
  std::string found;
};

/// Returns the fields in which `found` differs from `expected`. Only fields of `expected` are compared, and an absent
/// field equals null. An expected `error` matches any error. If `found` has no field `X_min_exclusive`, `X_min` or
/// `X_max`, such a field is a bound on field X. If `found` has no field `derived`, the fields in it are compared with
/// the fields beside it.
std::vector<Difference> differences(const Value& expected, const Value& found, std::span<const Tolerance> tolerances);

struct Failure {
  std::string id;
  std::string problem;                  ///< reason why the case could not be run; otherwise empty
  std::vector<Difference> differences;  ///< differing fields, if `problem` is empty
};

struct Report {
  std::string suite;
  std::size_t passed = 0;
  std::vector<Failure> failed;
};

Report run(const Suite& suite, const std::vector<Case>& cases);

/// Returns one line per difference of every failed case, then "N passed, N failed".
std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace capstan::conformance
