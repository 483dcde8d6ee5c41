#pragma once

#include "peers/autoscaler.h"
#include "peers/formula/dynamo.h"

namespace capstan::peers {

/// Settings of NVIDIA Dynamo's planner for aggregated engines (mode agg), named as in its configuration.
struct DynamoSpec {
  enum class Predictor : std::uint8_t { constant, kalman };
  dynamo::LoadSettings load;
  Duration load_adjustment_interval = std::chrono::seconds(5);
  std::int64_t max_gpu_budget = 8;
  std::int64_t gpus_per_engine = 1;
  bool throughput_scaling = false;  ///< off, as in Dynamo if optimization_target is throughput
  Duration throughput_adjustment_interval = std::chrono::seconds(180);
  Predictor predictor = Predictor::constant;  ///< Dynamo's default, arima, needs a library and is not supported
  dynamo::KalmanSettings kalman;
  double engine_rps = 0;  ///< capacity of one engine within the SLA; Dynamo measures it in a sweep before deployment
};

/// Runs Dynamo's two loops. Every `load_adjustment_interval`, the load loop adds or removes at most one engine, but
/// only while all requested engines are ready. The throughput loop sets the lower bound of the load loop.
class DynamoPlanner final : public Autoscaler {
 public:
  explicit DynamoPlanner(DynamoSpec spec) : spec_(spec), kalman_(spec.kalman) {}

  Duration period() const override { return spec_.load_adjustment_interval; }
  Recommendation recommend(const ClusterView& view, Instant now) override;

 private:
  void run_throughput_loop(const ClusterView& view, Instant now);

  DynamoSpec spec_;
  dynamo::ConstantPredictor constant_;
  dynamo::KalmanPredictor kalman_;
  Instant next_plan_{};
  ReplicaCount lower_bound_ = 1;
};

}  // namespace capstan::peers
