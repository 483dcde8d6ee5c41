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
/// field equals null. An expected `error` matches any error. Two kinds of expected fields are special, unless `found`
/// has a field of the same name: `X_min_exclusive`, `X_min` and `X_max` are bounds on field X of `found`, and the
/// members of `derived` are compared with the fields of these names in `found` itself.
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
