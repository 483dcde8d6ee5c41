#pragma once

#include "peers/autoscaler.h"
#include "peers/formula/kpa.h"
#include "peers/formula/kpa_zero.h"

namespace capstan::peers {

/// Settings of Knative's pod autoscaler. A scenario states them under their names in the ConfigMap config-autoscaler
/// and in annotations.
struct KnativeSpec {
  kpa::Spec decider;
  kpa::ZeroSettings zero;
  std::int64_t panic_window_percentage = 10;
};

/// Scrapes every second and decides every two seconds. A request that waits while there are no replicas makes it decide
/// at once. Requests in the gateway take the place of the activator's report.
class KnativeAutoscaler final : public Autoscaler {
 public:
  explicit KnativeAutoscaler(KnativeSpec spec);

  Duration period() const override { return std::chrono::seconds(1); }
  Recommendation recommend(const ClusterView& view, Instant now) override;

 private:
  ReplicaCount apply_bounds_and_zero(ReplicaCount wanted, const ClusterView& view, Instant now);

  KnativeSpec spec_;
  kpa::AverageWindow stable_;
  kpa::AverageWindow panic_;
  std::optional<kpa::State> state_;
  Instant next_decision_{};
  std::optional<Recommendation> last_;
  bool recorded_ = false;
  kpa::Revision::Activity activity_ = kpa::Revision::Activity::active;
  Instant activity_since_{};
};

}  // namespace capstan::peers
