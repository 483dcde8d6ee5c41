#pragma once

#include "decide/scale/peers/kpa.h"
#include "decide/scale/peers/kpa_zero.h"
#include "peers/autoscaler.h"

namespace capstan::peers {

/// Settings of Knative's pod autoscaler, with their names in the ConfigMap config-autoscaler and in annotations.
struct KnativeSpec {
  decide::scale::kpa::Spec decider;
  decide::scale::kpa::ZeroSettings zero;
  std::int64_t panic_window_percentage = 10;
};

/// Scrapes every second and decides every two seconds. Requests in the gateway take the place of the activator's
/// report.
class KnativeAutoscaler final : public Autoscaler {
 public:
  explicit KnativeAutoscaler(KnativeSpec spec);

  Duration period() const override { return std::chrono::seconds(1); }
  Recommendation recommend(const ClusterView& view, Instant now) override;

 private:
  ReplicaCount carry_out(ReplicaCount wanted, const ClusterView& view, Instant now);

  KnativeSpec spec_;
  decide::scale::kpa::AverageWindow stable_;
  decide::scale::kpa::AverageWindow panic_;
  std::optional<decide::scale::kpa::State> state_;
  Instant next_decision_{};
  std::optional<Recommendation> last_;
  bool recorded_ = false;
  decide::scale::kpa::Revision::Activity activity_ = decide::scale::kpa::Revision::Activity::active;
  Instant activity_since_{};
};

}  // namespace capstan::peers
