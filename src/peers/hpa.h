#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cron.h"
#include "decide/scale/hpa_metrics.h"
#include "decide/scale/scale.h"
#include "peers/autoscaler.h"
#include "peers/formula/keda.h"
#include "peers/metric_query.h"

namespace capstan::peers {

/// Resources of a pod. The manifest of an autoscaler does not state them, so the scenario does.
struct PodResources {
  std::optional<std::int64_t> cpu_milli;          ///< requested CPU, millicores
  std::optional<std::int64_t> memory_milli;       ///< requested memory, 1/1000 bytes
  std::optional<std::int64_t> memory_used_milli;  ///< memory in use, 1/1000 bytes
};

/// KEDA's cron trigger. It is active, and requests `replicas`, while its next end is not later than its next start. A
/// trigger that starts on work days but ends on every day is therefore active from Friday's end to Sunday's end, too.
/// Source: kedacore/keda pkg/scalers/cron_scaler.go.
struct CronTrigger {
  Cron start;
  Cron end;
  ReplicaCount replicas = 1;
  friend bool operator==(const CronTrigger&, const CronTrigger&) = default;

  /// @param now  time since the start of the simulation, which counts as the Unix epoch (Thursday, 1 January 1970)
  bool active(Instant now) const;
};

/// One entry of `spec.metrics` of an autoscaling/v2 HPA, or one trigger of a ScaledObject.
struct HpaMetric {
  /// Source of the metric's value. `cpu` follows the engine's duty cycle: during a step one thread waits for the GPU
  /// and keeps a core busy, and without requests it sleeps (vllm/v1/engine/core.py, run_busy_loop). `memory` is
  /// constant after the engine's start.
  enum class Source : std::uint8_t { pods, object, external, cpu, memory, cron };
  enum class Target : std::uint8_t { value, average_value, utilization };
  Source source = Source::external;
  std::string name;  ///< name in the manifest
  MetricQuery query;
  Target target = Target::average_value;
  std::int64_t target_milli = 1000;           ///< target, 1/1000 units; for a utilization, 1/1000 percent
  std::optional<std::int64_t> request_milli;  ///< request of one pod, 1/1000 units; cpu and memory only
  std::int64_t used_milli = 0;                ///< memory in use by each pod, 1/1000 bytes; memory only
  CronTrigger cron;
  double activation_threshold = 0;  ///< value above which a trigger is active; KEDA only
  bool ignore_null_values = true;   ///< true: an empty answer counts as 0; KEDA only
  friend bool operator==(const HpaMetric&, const HpaMetric&) = default;

  bool is_resource() const { return source == Source::cpu || source == Source::memory; }
};

/// A HorizontalPodAutoscaler, and the ScaledObject that created it if there is one.
struct HpaSpec {
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 1;
  std::vector<HpaMetric> metrics;
  decide::scale::HpaSettings settings;
  std::optional<keda::ScaledObject> keda;
  Duration polling_interval = std::chrono::seconds(30);  ///< interval of the operator; KEDA only
};

/// Runs kube-controller-manager's loop for one HPA every 15 s, and KEDA's operator between zero and one replica.
/// Source: kubernetes pkg/controller/podautoscaler/horizontal.go, kedacore/keda pkg/scaling.
class HpaAutoscaler final : public Autoscaler {
 public:
  explicit HpaAutoscaler(HpaSpec spec);

  Duration period() const override { return spec_.settings.sync_period; }
  Recommendation recommend(const ClusterView& view, Instant now) override;
  std::vector<std::string> warnings() const override;

 private:
  struct MetricState {
    bool ever_found = false;
    std::string last_error;
    std::optional<keda::Health> health;
  };

  decide::scale::HpaProposal propose(std::size_t index, const ClusterView& view, Instant now);
  decide::scale::HpaProposal propose_by_pods(std::size_t index, const ClusterView& view, Instant now);
  std::optional<decide::scale::HpaPod> pod_of(const HpaMetric& metric, const promql::Value& answer,
                                              const decide::scale::WorkloadView::Replica& replica) const;
  std::optional<double> ask(std::size_t index, const ClusterView& view, Instant now);
  std::optional<double> metric_value(std::size_t index, const ClusterView& view, Instant now);
  Recommendation sync(const ClusterView& view, Instant now);
  std::optional<Recommendation> activate(const ClusterView& view, Instant now);

  HpaSpec spec_;
  decide::scale::Memory memory_;
  std::vector<MetricState> states_;
  Instant next_poll_{};
  std::optional<Instant> last_active_;
};

}  // namespace capstan::peers
