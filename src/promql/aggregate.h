#pragma once

#include <string>

#include "promql/evaluate.h"

namespace capstan::promql {

/// `sum by (...) (vector)` and its kin. Source: prometheus promql/engine.go, aggregation.
/// @param parameter  of topk, bottomk and quantile
/// @param label      of count_values
Vector aggregate(const Aggregation& node, const Vector& of, double parameter, const std::string& label);

/// A value as a server writes it (Go's FormatFloat(value, 'f', -1, 64)).
std::string value_text(double value);

/// The labels that tell the groups apart.
Labels group_labels(const Labels& labels, bool without, const std::vector<std::string>& names);

}  // namespace capstan::promql
