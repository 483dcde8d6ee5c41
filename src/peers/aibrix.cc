#include "peers/aibrix.h"

#include <algorithm>

#include "peers/scaled_by_requests.h"

namespace capstan::peers {

double AibrixAutoscaler::mean(Duration window, Instant now) const {
  double sum = 0, count = 0;
  for (const Entry& entry : values_) {
    if (entry.at <= now - window) continue;
    sum += entry.value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Implements stabilizeRecommendation: a scale-up takes the highest recommendation of its window, a scale-down the
/// lowest.
ReplicaCount AibrixAutoscaler::stabilized(ReplicaCount wanted, ReplicaCount current, Instant now) {
  recommended_.push_back({now, static_cast<double>(wanted)});
  while (recommended_.front().at <= now - std::max(spec_.up_cooldown, spec_.down_cooldown) && recommended_.size() > 1) {
    recommended_.pop_front();
  }
  const bool up = wanted > current;
  const Duration window = up ? spec_.up_cooldown : spec_.down_cooldown;
  if (wanted == current || window <= Duration{}) return wanted;
  for (const Entry& entry : recommended_) {
    if (entry.at <= now - window) continue;
    const auto recommended = static_cast<ReplicaCount>(entry.value);
    wanted = up ? std::max(wanted, recommended) : std::min(wanted, recommended);
  }
  return wanted;
}

Recommendation AibrixAutoscaler::recommend(const ClusterView& view, Instant now) {
  const ReplicaCount current = view.role.current;
  if (current == 0 && spec_.min_replicas != 0) return {0, "at 0 replicas the autoscaler is disabled"};
  const Result<promql::Value> answer = spec_.query.ask(view.series, series_ms(now));
  double value = 0;  // a failed fetch counts as 0
  if (answer && !answer->vector.empty()) {
    value = answer->vector.front().value;
    ever_found_ = true;
  }
  values_.push_back({now, value});
  while (values_.front().at <= now - std::max(spec_.observe_window, spec_.panic_window)) values_.pop_front();
  const double stable = mean(spec_.observe_window, now), panic = mean(spec_.panic_window, now);
  ReplicaCount wanted = current;
  if (spec_.strategy == AibrixSpec::Strategy::apa) {
    wanted = aibrix::apa(current, spec_.target_value, stable, spec_.rates);
  } else {
    const aibrix::PanicState state{aibrix::is_panic(stable, panic, spec_.panic_threshold), 0};
    wanted = aibrix::kpa(current, spec_.target_value, stable, panic, state, 0, spec_.rates);
  }
  const ReplicaCount held = bounded(stabilized(bounded(wanted, spec_.min_replicas, spec_.max_replicas), current, now),
                                    spec_.min_replicas, spec_.max_replicas);
  const auto percent = static_cast<std::int64_t>(100 * stable / spec_.target_value);
  return {held,
          spec_.target_metric + " is at " + std::to_string(percent) + " % of its target: " + std::to_string(wanted)};
}

std::vector<std::string> AibrixAutoscaler::warnings() const {
  std::vector<std::string> out;
  if (const std::optional<std::string> bad = spec_.query.bad_signal()) out.push_back(*bad);
  if (!ever_found_) out.push_back(spec_.target_metric + " was never found and counted as 0");
  return out;
}

}  // namespace capstan::peers
