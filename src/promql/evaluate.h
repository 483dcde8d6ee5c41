#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "promql/expression.h"
#include "promql/series.h"

namespace capstan::promql {

/// One element of an instant vector.
struct Sample {
  Labels labels;
  double value = 0;
};
using Vector = std::vector<Sample>;

struct Value {
  ValueType type = ValueType::scalar;
  double scalar = 0;
  std::string text;
  Vector vector;
  std::vector<Series> matrix;
};

struct EvaluationOptions {
  Duration lookback = std::chrono::minutes(5);       ///< --query.lookback-delta
  Duration subquery_step = std::chrono::minutes(1);  ///< global.evaluation_interval: a subquery's step if it names none
  std::int64_t points_max = 50'000'000;              ///< --query.max-samples; also the moments of subqueries
};

/// What a Prometheus server of 2.42 (Debian 12) answers to an instant query at `at_ms` over these series. Ranges hold
/// both of their ends, as they did before 3.0.
///
/// @return an error with the place of what it cannot evaluate (trigonometry, dates, native histograms and others that
///         no scaler needs), or of what went wrong, such as a match of many to many
Result<Value> evaluate(const Expression& expression, const SeriesStore& store, std::int64_t at_ms,
                       const EvaluationOptions& options = {}, const std::string& source = "expression");

/// Says without series whether `evaluate` knows everything in it; the error has the place of what it does not.
std::optional<Error> check_evaluable(const Expression& expression, const std::string& source = "expression");

}  // namespace capstan::promql
