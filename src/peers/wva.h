#pragma once

#include "decide/scale/peers/wva_saturation.h"
#include "peers/hpa.h"

namespace capstan::peers {

/// llm-d's Workload Variant Autoscaler over one variant, and the HPA that its chart puts behind it: AverageValue 1 of
/// wva_desired_replicas, stabilized for 240 s both ways.
struct WvaSpec {
  enum class Analyzer : std::uint8_t { v1, v2 };
  Analyzer analyzer = Analyzer::v1;
  decide::scale::wva::SaturationConfig config;
  ReplicaCount min_replicas = 1;
  ReplicaCount max_replicas = 0;  ///< 0: none
  Duration stabilization_window = std::chrono::seconds(240);
};

class WvaAutoscaler final : public Autoscaler {
 public:
  explicit WvaAutoscaler(WvaSpec spec);

  Duration period() const override { return std::chrono::seconds(15); }  ///< the HPA's; the engine's is 30 s
  Wish look(const Sight& sight, Instant now) override;

 private:
  void run_engine(const Sight& sight, Instant now);
  ReplicaCount by_saturation(const Sight& sight, Instant now);
  ReplicaCount by_tokens(const Sight& sight, Instant now);
  double read(const std::string& query, const std::string& pod, const Sight& sight, Instant now) const;

  WvaSpec spec_;
  decide::scale::wva::AnalyzerV2 tokens_;
  ReplicaCount desired_ = 0;  ///< 0: none was made
  std::string why_ = "no decision yet";
  Instant next_engine_{};
  decide::scale::HpaSettings hpa_;
  decide::scale::Memory memory_;
};

}  // namespace capstan::peers
