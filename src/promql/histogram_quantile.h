#pragma once

#include "promql/evaluate.h"

namespace capstan::promql {

/// histogram_quantile over classic buckets, which their label `le` tells apart. Source: prometheus promql/quantile.go.
Vector histogram_quantile(double share, const Vector& buckets);

}  // namespace capstan::promql
