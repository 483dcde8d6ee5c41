#pragma once

#include <deque>

#include "decide/scale/peers/aibrix.h"
#include "peers/autoscaler.h"
#include "peers/metric_query.h"

namespace capstan::peers {

/// A PodAutoscaler of AIBrix: fields of its spec, and its annotations.
struct AibrixSpec {
  enum class Strategy : std::uint8_t { apa, kpa };
  Strategy strategy = Strategy::apa;
  std::string target_metric = "gpu_cache_usage_perc";
  MetricQuery query;
  double target_value = 0.5;
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 0;  ///< 0: none
  Duration observe_window = std::chrono::seconds(180);
  Duration panic_window = std::chrono::seconds(60);
  double panic_threshold = 2;
  decide::scale::aibrix::Rates rates;
  Duration up_cooldown{};
  Duration down_cooldown = std::chrono::seconds(300);
};

/// Every 10 s, defects included: what cannot be fetched counts as 0, means stand where its KPA expects totals, panic is
/// forgotten between decisions, and the cool-down on the way down takes the lowest recommendation of its window.
class AibrixAutoscaler final : public Autoscaler {
 public:
  explicit AibrixAutoscaler(AibrixSpec spec) : spec_(std::move(spec)) {}

  Duration period() const override { return std::chrono::seconds(10); }
  Wish look(const Sight& sight, Instant now) override;
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
