#pragma once

#include <deque>

#include "peers/autoscaler.h"
#include "peers/formula/aibrix.h"
#include "peers/metric_query.h"

namespace capstan::peers {

/// Spec fields and annotations of an AIBrix PodAutoscaler.
struct AibrixSpec {
  enum class Strategy : std::uint8_t { apa, kpa };
  Strategy strategy = Strategy::apa;
  std::string target_metric = "gpu_cache_usage_perc";
  MetricQuery query;
  double target_value = 0.5;
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 0;  ///< largest number of replicas; 0: the service's maximum
  Duration observe_window = std::chrono::seconds(180);
  Duration panic_window = std::chrono::seconds(60);
  double panic_threshold = 2;
  aibrix::Rates rates;
  Duration up_cooldown{};
  Duration down_cooldown = std::chrono::seconds(300);
};

/// Decides every 10 s. AIBrix's defects are reproduced: a failed fetch counts as 0, its KPA receives means instead of
/// totals, panic is lost between decisions, and the cool-down of a scale-down takes the lowest recommendation of its
/// window.
class AibrixAutoscaler final : public Autoscaler {
 public:
  explicit AibrixAutoscaler(AibrixSpec spec) : spec_(std::move(spec)) {}

  Duration period() const override { return std::chrono::seconds(10); }
  Recommendation recommend(const ClusterView& view, Instant now) override;
  std::vector<std::string> warnings() const override;

 private:
  struct Entry {
    Instant at;
    double value = 0;
  };
  double mean(Duration window, Instant now) const;
  ReplicaCount stabilized(ReplicaCount wanted, ReplicaCount current, Instant now);

  AibrixSpec spec_;
  std::deque<Entry> values_;
  std::deque<Entry> recommended_;
  bool ever_found_ = false;
};

}  // namespace capstan::peers
