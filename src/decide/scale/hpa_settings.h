#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

/// The settings of an HPA, and the three HPA policies that a scenario can name by their metric.
namespace capstan::decide::scale {

/// One line of `behavior.scaleUp.policies` / `behavior.scaleDown.policies`.
struct HpaRatePolicy {
  enum class Kind : std::uint8_t { pods, percent };
  Kind kind = Kind::pods;
  std::int64_t value = 4;  ///< replicas, or percent of the replicas at the start of the period
  Duration period = std::chrono::seconds(15);
  friend bool operator==(const HpaRatePolicy&, const HpaRatePolicy&) = default;
};

/// One direction of `behavior`.
struct HpaRules {
  enum class Select : std::uint8_t { max, min, disabled };
  Duration stabilization{};
  Select select = Select::max;
  std::vector<HpaRatePolicy> policies;
  friend bool operator==(const HpaRules&, const HpaRules&) = default;
};

/// `spec.behavior` of an autoscaling/v2 HPA. The defaults are the values that Kubernetes fills in if any part is given.
struct HpaBehavior {
  HpaRules up{.stabilization = {},
              .select = HpaRules::Select::max,
              .policies = {{HpaRatePolicy::Kind::pods, 4, std::chrono::seconds(15)},
                           {HpaRatePolicy::Kind::percent, 100, std::chrono::seconds(15)}}};
  HpaRules down{.stabilization = std::chrono::minutes(5),
                .select = HpaRules::Select::max,
                .policies = {{HpaRatePolicy::Kind::percent, 100, std::chrono::seconds(15)}}};
  friend bool operator==(const HpaBehavior&, const HpaBehavior&) = default;
};

/// Settings that all HPAs share. Source: kubernetes pkg/controller/podautoscaler and its flags.
struct HpaSettings {
  Duration sync_period = std::chrono::seconds(15);
  std::int64_t tolerance_up_per_mille = 100;  ///< 100 = 10 %; the bounds are inclusive
  std::int64_t tolerance_down_per_mille = 100;
  /// `spec.behavior`. If it is absent, the defaults above do not apply: a scale-up is limited to max(2 x current, 4)
  /// per sync, and a scale-down to the highest recommendation of the last `downscale_stabilization`.
  std::optional<HpaBehavior> behavior;
  Duration downscale_stabilization = std::chrono::minutes(5);
  /// A rule of Capstan, not of HPA: while a serving replica gives no usable reading, neither the current replicas nor
  /// the last recommendation is lowered.
  bool blocks_scale_down_if_silent = false;
  friend bool operator==(const HpaSettings&, const HpaSettings&) = default;
};

/// HPA on DCGM_FI_DEV_GPU_UTIL as a Pods metric: the share of time in which any kernel ran. It shows 100 % for ten
/// requests and for a hundred.
struct DutyCycleHpa {
  std::int64_t target_percent = 80;  ///< 1..100, mean over replicas
  HpaSettings hpa;
  friend bool operator==(const DutyCycleHpa&, const DutyCycleHpa&) = default;
};

/// HPA on the share of GPU memory in use (DCGM_FI_DEV_FB_USED). The engine allocates its KV cache at start, so the
/// share stays near the engine's memory setting at any load.
struct MemoryHpa {
  std::int64_t target_percent = 80;  ///< 1..100, mean over replicas
  HpaSettings hpa;
  friend bool operator==(const MemoryHpa&, const MemoryHpa&) = default;
};

/// HPA on `vllm:num_requests_waiting`, a Pods metric with an AverageValue. With `running_per_replica` it also uses
/// `vllm:num_requests_running`; the higher answer wins, as HPA combines metrics.
struct QueueHpa {
  RequestCount waiting_per_replica = 4;             ///< mean over replicas; at least 1
  std::optional<RequestCount> running_per_replica;  ///< mean over replicas; at least 1
  HpaSettings hpa;
  friend bool operator==(const QueueHpa&, const QueueHpa&) = default;
};

}  // namespace capstan::decide::scale
