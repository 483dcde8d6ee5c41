#pragma once

#include <cmath>

namespace capstan::promql {

/// A compensated sum (Neumaier 1974), step by step as in Prometheus, because equal results need equal roundings.
struct KahanSum {
  double sum = 0;
  double lost = 0;

  void add(double term) {
    const double next = sum + term;
    lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  }
  double total() const { return std::isinf(sum) ? sum : sum + lost; }
};

}  // namespace capstan::promql
