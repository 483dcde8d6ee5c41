#pragma once

#include "promql/evaluate.h"

namespace capstan::promql {

/// Computes histogram_quantile over classic buckets, which have a label `le`. Source: prometheus promql/quantile.go.
Vector histogram_quantile(double share, const Vector& buckets);

}  // namespace capstan::promql
