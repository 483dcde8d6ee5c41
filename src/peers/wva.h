#pragma once

#include "peers/formula/wva_saturation.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// Settings of llm-d's Workload Variant Autoscaler over one variant, and of the HPA that its chart installs:
/// AverageValue 1 of wva_desired_replicas, stabilized for 240 s in both directions.
struct WvaSpec {
  enum class Analyzer : std::uint8_t { v1, v2 };
  Analyzer analyzer = Analyzer::v1;
  wva::SaturationConfig config;
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 0;  ///< largest number of replicas; 0: the service's maximum
  Duration stabilization_window = std::chrono::seconds(240);
};

class WvaAutoscaler final : public Autoscaler {
 public:
  explicit WvaAutoscaler(WvaSpec spec);

  /// Returns the interval of the HPA. WVA itself decides every 30 s.
  Duration period() const override { return std::chrono::seconds(15); }
  Recommendation recommend(const ClusterView& view, Instant now) override;

 private:
  void run_engine(const ClusterView& view, Instant now);
  ReplicaCount by_saturation(const ClusterView& view, Instant now);
  ReplicaCount by_tokens(const ClusterView& view, Instant now);
  double read(const std::string& query, const std::string& pod, const ClusterView& view, Instant now) const;

  WvaSpec spec_;
  wva::AnalyzerV2 tokens_;
  ReplicaCount desired_ = 0;  ///< last decision; 0 before the first
  std::string why_ = "no decision yet";
  Instant next_engine_{};
  decide::scale::HpaSettings hpa_;
  decide::scale::Memory memory_;
};

}  // namespace capstan::peers
