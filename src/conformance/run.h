#pragma once

#include <string>
#include <vector>

#include "conformance/suite.h"

namespace capstan::conformance {

/// A field of an answer that is not what its case expects.
struct Difference {
  std::string field;     ///< "replicas", "steps[2].desired"
  std::string expected;  ///< as JSON
  std::string found;
};

/// Where `found` is not what `expected` asks for, field by field; only what `expected` lists is looked at. A member
/// that is absent equals null. An `error` is a class of refusal: any refusal matches. Where an answer has no such
/// field, `X_min_exclusive`, `X_min` and `X_max` bound its X, and what is in `derived` is expected of the answer
/// itself.
std::vector<Difference> differences(const Value& expected, const Value& found, std::span<const Tolerance> tolerances);

struct Failure {
  std::string id;
  std::string problem;                  ///< why the case could not be asked; else empty
  std::vector<Difference> differences;  ///< else these
};

struct Report {
  std::string suite;
  std::size_t passed = 0;
  std::vector<Failure> failed;
};

Report run(const Suite& suite, const std::vector<Case>& cases);

/// One line a difference of every case that fails, then "N passed, N failed".
std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace capstan::conformance
