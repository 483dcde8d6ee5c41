#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decide/scale/hpa_metrics.h"
#include "decide/scale/peers/keda.h"
#include "decide/scale/scale.h"
#include "peers/autoscaler.h"
#include "peers/metric_query.h"

namespace capstan::peers {

/// One entry of `spec.metrics` of an autoscaling/v2 HPA, or one trigger of a ScaledObject.
struct HpaMetric {
  enum class Source : std::uint8_t { pods, object, external };
  enum class Target : std::uint8_t { value, average_value };
  Source source = Source::external;
  std::string name;  ///< as the manifest has it
  MetricQuery query;
  Target target = Target::average_value;
  std::int64_t target_milli = 1000;
  double activation_threshold = 0;  ///< KEDA's
  bool ignore_null_values = true;   ///< KEDA's
  friend bool operator==(const HpaMetric&, const HpaMetric&) = default;
};

/// A HorizontalPodAutoscaler, and the ScaledObject before it where there is one.
struct HpaSpec {
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 1;
  std::vector<HpaMetric> metrics;
  decide::scale::HpaSettings settings;
  std::optional<decide::scale::keda::ScaledObject> keda;
  Duration polling_interval = std::chrono::seconds(30);  ///< KEDA's
};

/// kube-controller-manager's loop over one HPA every 15 s, and KEDA's operator between none and some. Source:
/// kubernetes pkg/controller/podautoscaler/horizontal.go, kedacore/keda pkg/scaling.
class HpaAutoscaler final : public Autoscaler {
 public:
  explicit HpaAutoscaler(HpaSpec spec);

  Duration period() const override { return spec_.settings.sync_period; }
  Wish look(const Sight& sight, Instant now) override;
  std::vector<std::string> warnings() const override;

 private:
  struct MetricState {
    bool ever_found = false;
    std::string last_error;
    std::optional<decide::scale::keda::Health> health;
  };

  decide::scale::HpaProposal propose(std::size_t index, const Sight& sight, Instant now);
  decide::scale::HpaProposal propose_by_pods(std::size_t index, const Sight& sight, Instant now);
  std::optional<double> ask(std::size_t index, const Sight& sight, Instant now);
  std::optional<double> metric_value(std::size_t index, const Sight& sight, Instant now);
  Wish sync(const Sight& sight, Instant now);
  std::optional<Wish> activate(const Sight& sight, Instant now);

  HpaSpec spec_;
  decide::scale::Memory memory_;
  std::vector<MetricState> states_;
  Instant next_poll_{};
  std::optional<Instant> last_active_;
};

}  // namespace capstan::peers
