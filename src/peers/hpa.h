#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cron.h"
#include "decide/scale/hpa_metrics.h"
#include "decide/scale/peers/keda.h"
#include "decide/scale/scale.h"
#include "peers/autoscaler.h"
#include "peers/metric_query.h"

namespace capstan::peers {

/// What a pod requests, and the memory that it uses, in thousandths of a core or byte. None of it is in an autoscaler's
/// manifest, so a scenario says it.
struct PodResources {
  std::optional<std::int64_t> cpu_milli;
  std::optional<std::int64_t> memory_milli;
  std::optional<std::int64_t> memory_used_milli;
};

/// KEDA's cron trigger: so many replicas while the next end comes before the next start. (So a start on work days with
/// an end on every day is active on Saturdays.) Source: kedacore/keda pkg/scalers/cron_scaler.go.
struct CronTrigger {
  Cron start;
  Cron end;
  ReplicaCount replicas = 1;
  friend bool operator==(const CronTrigger&, const CronTrigger&) = default;

  /// @param now  counted from the Unix epoch, where simulations begin
  bool active(Instant now) const;
};

/// One entry of `spec.metrics` of an autoscaling/v2 HPA, or one trigger of a ScaledObject.
struct HpaMetric {
  /// The CPU of an engine is its duty cycle: while it runs a step one thread waits for the GPU and keeps a core busy,
  /// without requests it sleeps (vllm/v1/engine/core.py, run_busy_loop). Its memory is what it took when it started.
  enum class Source : std::uint8_t { pods, object, external, cpu, memory, cron };
  enum class Target : std::uint8_t { value, average_value, utilization };
  Source source = Source::external;
  std::string name;  ///< as the manifest has it
  MetricQuery query;
  Target target = Target::average_value;
  std::int64_t target_milli = 1000;           ///< of a utilization, thousandths of a percent
  std::optional<std::int64_t> request_milli;  ///< of a pod; cpu and memory only
  std::int64_t used_milli = 0;                ///< by every pod; memory only
  CronTrigger cron;
  double activation_threshold = 0;  ///< KEDA's
  bool ignore_null_values = true;   ///< KEDA's
  friend bool operator==(const HpaMetric&, const HpaMetric&) = default;

  bool of_resource() const { return source == Source::cpu || source == Source::memory; }
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
  std::optional<decide::scale::HpaPod> pod_of(const HpaMetric& metric, const promql::Value& answer,
                                              const decide::scale::RoleView::Replica& replica) const;
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
