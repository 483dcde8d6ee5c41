#pragma once

#include "decide/scale/peers/dynamo.h"
#include "peers/autoscaler.h"

namespace capstan::peers {

/// NVIDIA Dynamo's planner over engines that prefill and decode in one (mode agg), by its configuration's names.
struct DynamoSpec {
  enum class Predictor : std::uint8_t { constant, kalman };
  decide::scale::dynamo::LoadSettings load;
  Duration load_adjustment_interval = std::chrono::seconds(5);
  std::int64_t max_gpu_budget = 8;
  std::int64_t gpus_per_engine = 1;
  bool throughput_scaling = false;  ///< off by default, as with optimization_target throughput
  Duration throughput_adjustment_interval = std::chrono::seconds(180);
  Predictor predictor = Predictor::constant;  ///< its own default is arima, a library's fit
  decide::scale::dynamo::KalmanSettings kalman;
  double engine_rps = 0;  ///< what one engine serves within the SLA; its own comes from a sweep before deployment
};

/// The load loop adds or takes one engine every 5 s, but only while all that are asked for are there; the throughput
/// loop sets its lower bound.
class DynamoPlanner final : public Autoscaler {
 public:
  explicit DynamoPlanner(DynamoSpec spec) : spec_(spec), kalman_(spec.kalman) {}

  Duration period() const override { return spec_.load_adjustment_interval; }
  Wish look(const Sight& sight, Instant now) override;

 private:
  void plan_for_load(const Sight& sight, Instant now);

  DynamoSpec spec_;
  decide::scale::dynamo::ConstantPredictor constant_;
  decide::scale::dynamo::KalmanPredictor kalman_;
  Instant next_plan_{};
  ReplicaCount lower_bound_ = 1;
};

}  // namespace capstan::peers
