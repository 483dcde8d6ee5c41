#include "peers/formula/aibrix.h"

#include <algorithm>
#include <cmath>

namespace capstan::peers::aibrix {
namespace {

/// Converts like Go's int32(float64), but clamps to the range.
ReplicaCount to_int32(double value) {
  return std::isnan(value) ? 0 : static_cast<ReplicaCount>(std::clamp(value, -2147483648.0, 2147483647.0));
}

}  // namespace

ReplicaCount apa(ReplicaCount current, double target, double average, const Rates& rates) {
  if (!(target > 0)) return current;
  const auto pods = static_cast<double>(current);
  const double ratio = average / target;
  if (ratio > 1 + rates.up_tolerance) {
    return to_int32(std::min(std::ceil(pods * ratio), std::ceil(rates.max_up * pods)));
  }
  if (ratio < 1 - rates.down_tolerance) {
    return to_int32(std::max(std::ceil(pods * ratio), std::floor(pods / rates.max_down)));
  }
  return current;
}

bool is_panic(double stable, double panic, double threshold) { return stable <= 0 || panic / stable > threshold; }

ReplicaCount kpa(ReplicaCount current, double target, double stable, double panic, const PanicState& state,
                 ReplicaCount activation_scale, const Rates& rates) {
  if (!(target > 0)) return current;
  const auto pods = static_cast<double>(current);
  const double most = std::max(1.0, std::ceil(rates.max_up * pods));
  const double least = std::floor(pods / rates.max_down);
  const auto wish = [&](double total) {
    const bool outside = total > target * (1 + rates.up_tolerance) || total < target * (1 - rates.down_tolerance);
    const double wished = outside ? std::ceil(total / target) : pods;
    const ReplicaCount bounded = to_int32(std::min(std::max(wished, least), most));
    return bounded > 0 && activation_scale > 1 ? std::max(bounded, activation_scale) : bounded;
  };
  const ReplicaCount by_stable = wish(stable);
  if (!state.in_panic) return by_stable;
  return std::max({by_stable, wish(panic), state.max_panic_pods});
}

}  // namespace capstan::peers::aibrix
