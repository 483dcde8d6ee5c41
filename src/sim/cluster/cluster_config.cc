#include "sim/cluster/cluster_config.h"

#include <algorithm>

#include "base/assert.h"
#include "base/portable_math.h"
#include "sim/cluster/time_limit.h"

namespace capstan::sim {
Duration Latency::draw(RandomStream& stream) const {
  CAPSTAN_ASSERT(low.count() >= 0 && low <= high);
  if (low == high) return low;
  if (shape == Shape::uniform) return Duration(stream.between(low.count(), high.count()));
  CAPSTAN_ASSERT(low.count() > 0);
  constexpr double kNinetyFive = 1.6448536269514722;  // 95th percentile of the standard normal distribution
  const double log_low = portable_log(static_cast<double>(low.count()));
  const double log_high = portable_log(static_cast<double>(high.count()));
  const double drawn =
      stream.log_normal(portable_exp((log_low + log_high) / 2), (log_high - log_low) / 2 / kNinetyFive);
  return Duration(static_cast<std::int64_t>(std::min(drawn, static_cast<double>(kMaxDuration.count()))));
}

}  // namespace capstan::sim
