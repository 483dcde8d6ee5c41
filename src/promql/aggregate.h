#pragma once

#include <string>

#include "promql/evaluate.h"

namespace capstan::promql {

/// Evaluates `sum by (...) (vector)` and the other aggregations. Source: prometheus promql/engine.go, aggregation.
/// @param parameter  argument of topk, bottomk and quantile
/// @param label      name of the label that count_values sets
Vector aggregate(const Aggregation& node, const Vector& operand, double parameter, const std::string& label);

/// Formats a value as Prometheus does (Go's FormatFloat(value, 'f', -1, 64)).
std::string value_text(double value);

/// Returns the labels that identify the group of a series.
Labels group_labels(const Labels& labels, bool without, const std::vector<std::string>& names);

}  // namespace capstan::promql
