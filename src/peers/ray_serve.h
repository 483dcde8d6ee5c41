#pragma once

#include <deque>

#include "peers/autoscaler.h"
#include "peers/formula/ray_serve.h"

namespace capstan::peers {

/// autoscaling_config of a Ray Serve deployment. Ray's default of max_replicas is 1; here the service's maximum applies
/// if the scenario states none.
struct RayServeSpec {
  ray_serve::Config config;
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 0;  ///< largest number of replicas; 0: the service's maximum
  Duration metrics_interval = std::chrono::seconds(10);
  Duration look_back_period = std::chrono::seconds(30);
};

/// Decides every 0.1 s from the mean number of ongoing requests in the look-back period. As in Ray, the handles of a
/// deployment report the current number once per metrics interval.
class RayServeAutoscaler final : public Autoscaler {
 public:
  explicit RayServeAutoscaler(RayServeSpec spec) : spec_(spec) {}

  Duration period() const override { return ray_serve::kControlLoop; }
  Recommendation recommend(const ClusterView& view, Instant now) override;

 private:
  RayServeSpec spec_;
  ray_serve::State state_;
  std::deque<ray_serve::Point> pushed_;
  Instant next_push_{};
};

}  // namespace capstan::peers
