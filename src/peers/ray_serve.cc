#include "peers/ray_serve.h"

#include "peers/scaled_by_requests.h"

namespace capstan::peers {

namespace ray = ray_serve;

Recommendation RayServeAutoscaler::recommend(const ClusterView& view, Instant now) {
  if (now >= next_push_) {
    next_push_ = now + spec_.metrics_interval;
    if (const std::optional<double> total = requests_in_flight(view)) pushed_.push_back({now, *total});
  }
  while (!pushed_.empty() && pushed_.front().at <= now - spec_.look_back_period) pushed_.pop_front();
  if (pushed_.empty()) return {view.role.current, "no handle has reported"};
  const std::vector<ray::Point> points(pushed_.begin(), pushed_.end());
  const std::vector<std::vector<ray::Point>> handles = {points};
  ray::Observation observed;
  observed.total_requests = ray::merged_average(handles, now - spec_.look_back_period, now).value_or(0);
  observed.running = ready_replicas(view.role);
  observed.target = view.role.current;
  const ReplicaCount wanted =
      bounded(ray::decide(observed, spec_.config, state_, now), spec_.min_replicas, spec_.max_replicas);
  return {wanted, std::to_string(static_cast<std::int64_t>(observed.total_requests)) +
                      " ongoing requests: " + std::to_string(wanted)};
}

}  // namespace capstan::peers
