#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "engine/table.h"
#include "model/service.h"
#include "plan/spec/spec.h"

// The fleet that the search chose for a service, and what the simulations showed of it.
namespace capstan::plan {

/// The replicas of one role.
struct RoleFleet {
  model::Role role = model::Role::both;
  engine::EngineRow engine{};          ///< model, GPU kind, tensor parallelism and weight type of a replica
  std::int64_t pods = 1;               ///< of a replica
  MachineSpec machine{};               ///< of the nodes
  ReplicaCount minimum = 1;            ///< ready replicas that the scaler keeps; the warm pool
  ReplicaCount maximum = 1;            ///< as the scaler's bound
  ReplicaCount threshold_minimum = 0;  ///< of the ScaledObject and the HPA; 0: `minimum`
  ReplicaCount mean_ready_milli = 0;   ///< ready replicas, mean over the simulated load, thousandths
  ReplicaCount peak_ready = 0;
  std::int64_t batch = 1;        ///< sequences that a replica runs at once within the SLO, from the engine table
  double prefill_share = 0;      ///< part of a replica's step time that prompts take, 0 to 1, from the engine table
  double kv_share_at_batch = 0;  ///< part of the KV memory in use at that batch, 0 to 1

  GpuCount gpus_per_replica() const { return engine.tp; }
};

/// One simulation of the fleet under one seed, or a test of its robustness.
struct Trial {
  std::string name{};  ///< "seed 1", "cold starts twice as long", "zone us-east-1a lost", "1.5 times the load"
  std::uint64_t seed = 1;
  std::int64_t attainment_ppm = 0;  ///< met requests, millionths
  RequestCount requests = 0;
  Duration ttft_p99{};
  Duration tpot_p99{};
  std::int64_t micro_usd = 0;  ///< cost of the run
  Duration simulated{};
  GpuNanoseconds paid_gpu_ns = 0;
  GpuNanoseconds idle_gpu_ns = 0;  ///< paid and neither busy nor starting
  std::int64_t answer_tokens = 0;
  std::int64_t prompt_tokens = 0;
  Duration cold_start_p50{};  ///< from bound to ready; 0: there was none
  Duration cold_start_max{};
};

/// A ScaledObject or HPA of the plan, simulated in place of Capstan's policy.
struct ThresholdTrial {
  std::string kind{};                   ///< "ScaledObject"
  std::int64_t attainment_ppm = 0;      ///< lowest over the seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the seeds
  std::string refused{};                ///< why it cannot be simulated; empty: it was
  std::int64_t simulations = 0;
};

/// One fleet that the search tried.
struct FrontierPoint {
  std::string fleet{};                  ///< "H100, tensor parallel 4, 3 to 8 replicas"
  std::int64_t attainment_ppm = 0;      ///< lowest over the seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the seeds
  bool holds_slo = false;
  bool is_efficient = false;  ///< no other point costs less and meets as much
  std::int64_t seeds = 1;     ///< number of simulations with different seeds
};

/// One phase of a replica's start.
struct StartPhase {
  std::string name{};  ///< "node", "image pull", "weights", "engine start"
  Duration typical{};
  Duration longest{};
};

/// The plan of one service.
struct ServicePlan {
  std::string service{};           ///< its name in the spec
  std::vector<RoleFleet> roles{};  ///< one, or prefill and decode
  std::uint32_t spot_ppm = 0;      ///< share of the nodes above the minimum that are bought as spot, millionths
  bool holds_slo = false;          ///< every seed met the SLO's attainment
  std::vector<Trial> seeds{};      ///< at least five
  std::vector<Trial> robustness{};
  std::vector<ThresholdTrial> threshold_trials{};  ///< of the ScaledObject and the HPA; empty: not simulated
  std::vector<FrontierPoint> frontier{};           ///< the cheapest first
  std::optional<FrontierPoint> runner_up{};        ///< the best fleet of another GPU kind or parallelism
  std::vector<StartPhase> start{};                 ///< in the order in which they happen
  std::string scenario{};                          ///< the simulated scenario file, with the plan's policies
  std::string not_simulated{};                     ///< what the simulation leaves out, empty: nothing
};

}  // namespace capstan::plan
