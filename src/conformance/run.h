#pragma once

#include <string>
#include <vector>

#include "conformance/suite.h"

namespace capstan::conformance {

/// A field whose value differs from the expected one.
struct Difference {
  std::string field;     ///< "replicas", "steps[2].desired"
  std::string expected;  ///< as JSON
  std::string found;
};

/// Returns the fields in which `found` differs from `expected`. Only fields of `expected` are compared, and an absent
/// member equals null. An `error` is a class of errors: any error matches. If an answer has no field of that name,
/// `X_min_exclusive`, `X_min` and `X_max` bound its X, and the members of `derived` are compared with the answer
/// itself.
std::vector<Difference> differences(const Value& expected, const Value& found, std::span<const Tolerance> tolerances);

struct Failure {
  std::string id;
  std::string problem;                  ///< why the case could not be run; else empty
  std::vector<Difference> differences;  ///< set if `problem` is empty
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
