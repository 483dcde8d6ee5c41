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

/// The result of an expression. `type` determines which of the other fields is set.
struct Value {
  ValueType type = ValueType::scalar;
  double scalar = 0;
  std::string text;
  Vector vector;
  std::vector<Series> matrix;
};

struct EvaluationOptions {
  Duration lookback = std::chrono::minutes(5);       ///< Prometheus' --query.lookback-delta
  Duration subquery_step = std::chrono::minutes(1);  ///< default step of subqueries: global.evaluation_interval
  std::int64_t points_max = 50'000'000;              ///< --query.max-samples; a subquery's steps count as points
};

/// Evaluates an instant query at `at_ms` over these series, as Prometheus 2.42 (Debian 12) does. Ranges include both of
/// their ends, as they did before 3.0.
///
/// @return an error with its place for a function that Capstan does not evaluate (such as trigonometry, dates
///         and native histograms, which no scaler needs), or for a failure such as a many-to-many match
Result<Value> evaluate(const Expression& expression, const SeriesStore& store, std::int64_t at_ms,
                       const EvaluationOptions& options = {}, const std::string& source = "expression");

/// Returns an error, with its place, for the first function or operator that `evaluate` does not know. Needs no series.
std::optional<Error> check_evaluable(const Expression& expression, const std::string& source = "expression");

}  // namespace capstan::promql
