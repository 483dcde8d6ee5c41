#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "engine/table.h"
#include "model/offering.h"
#include "model/service.h"
#include "plan/spec/spec.h"

// The fleet and the scaler that the search chose for a service, and what the simulations showed of them.
namespace capstan::plan {

/// The component that sets the number of replicas.
enum class ScalerKind : std::uint8_t {
  capstan,        ///< Capstan's policy, as an InferenceScaler
  scaled_object,  ///< the ScaledObject of the plan
  hpa,            ///< the HorizontalPodAutoscaler of the plan
  constant,       ///< nothing: the fleet has the same size all the time
};

/// The replicas of one role.
struct RoleFleet {
  model::Role role = model::Role::both;
  engine::EngineRow engine{};  ///< model, GPU kind, tensor parallelism and weight type of a replica
  std::int64_t pods = 1;       ///< pods of a replica
  MachineSpec machine{};       ///< machine type of the nodes
  std::string pool{};          ///< pool of the nodes; empty: `pool_name` of the GPU kind
  model::CapacityType base = model::CapacityType::on_demand;  ///< capacity type of the nodes of the minimum
  std::uint32_t spot_base_ppm = 0;    ///< share of these nodes that are bought as spot instead, millionths
  ReplicaCount burst_minimum = 0;     ///< minimum that Capstan's policy needs for a burst; 0: `minimum` is enough
  ReplicaCount minimum = 1;           ///< ready replicas that the chosen scaler keeps; the warm pool
  ReplicaCount maximum = 1;           ///< highest number of replicas that a scaler may set
  ReplicaCount mean_ready_milli = 0;  ///< ready replicas, mean over the simulated load, thousandths
  ReplicaCount peak_ready = 0;        ///< most ready replicas at the end of a minute, over all seeds
  std::int64_t batch = 1;             ///< sequences that a replica runs at once within the SLO, from the engine table
  double prefill_share = 0;      ///< part of a replica's step time that prompts take, 0 to 1, from the engine table
  double kv_share_at_batch = 0;  ///< part of the KV memory in use at that batch, 0 to 1

  std::int64_t gpu_shares = 1;  ///< pods that divide each GPU by MPS; 1: pods have whole GPUs

  GpuCount gpus_per_replica() const { return engine.tp; }
};

/// The difference between a simulation and the plan.
enum class TrialCondition : std::uint8_t {
  planned,
  slow_starts,  ///< cold starts take longer
  zone_lost,
  more_load,
  reclaims,  ///< spot nodes are reclaimed more often
};

/// One simulation of the fleet under one seed, or a test of its robustness.
struct Trial {
  std::string name{};  ///< "seed 1", "cold starts twice as long", "zone us-east-1a lost", "1.5 times the load"
  std::uint64_t seed = 1;
  std::int64_t attainment_ppm = 0;  ///< met requests, millionths
  RequestCount requests = 0;
  Duration ttft_p99{};
  Duration tpot_p99{};
  std::int64_t micro_usd = 0;       ///< cost of the simulated time
  std::int64_t spot_micro_usd = 0;  ///< the part of the cost that is for spot nodes
  Duration simulated{};
  GpuNanoseconds paid_gpu_ns = 0;
  GpuNanoseconds idle_gpu_ns = 0;    ///< paid GPU time that was idle, sleeping, held or unallocated
  GpuNanoseconds useful_gpu_ns = 0;  ///< the least GPU time in which the met requests could have been served
  std::int64_t goodput_milli = 0;    ///< met requests per second in the busiest window, thousandths
  /// Replicas of all roles at the end of each minute: the wanted or the ready ones, whichever are more.
  std::vector<ReplicaCount> replicas_by_minute{};
  std::int64_t answer_tokens = 0;
  std::int64_t prompt_tokens = 0;
  Duration cold_start_p50{};  ///< median time from bound to ready; 0: there was no cold start
  Duration cold_start_max{};
  /// Replicas that reclaims of spot nodes or the loss of a zone ended; under `reclaims`, over all seeds.
  std::int64_t reclaimed = 0;
  TrialCondition condition = TrialCondition::planned;
  std::string scenario{};  ///< simulated scenario file; only for a worse condition
};

/// The replicas of one role under one scaler.
struct RoleReplicas {
  ReplicaCount minimum = 1;
  ReplicaCount maximum = 1;
  ReplicaCount mean_ready_milli = 0;  ///< ready replicas, mean over the simulated load, thousandths
  ReplicaCount peak_ready = 0;        ///< most ready replicas at the end of a minute, over all seeds
};

/// One way to set the number of replicas, simulated on the plan's load and machines.
struct ScalerVariant {
  ScalerKind kind = ScalerKind::capstan;
  std::vector<RoleReplicas> roles{};  ///< replicas of each role, in the order of `ServicePlan::roles`
  std::vector<Trial> seeds{};         ///< one trial for each seed; none if it was refused
  bool holds_slo = false;             ///< true: the SLO holds under every seed
  std::string refusal_reason{};       ///< reason why it cannot be simulated; empty: it was simulated
  std::string scenario{};             ///< the simulated scenario file, with this scaler as its policy
};

/// The requests of the simulated load.
struct MeanLoad {
  double prompt_tokens = 0;  ///< mean length of a prompt; 0: nothing was simulated
  double answer_tokens = 0;  ///< mean length of an answer
  double mean_per_s = 0;     ///< requests per second
  double peak_per_s = 0;     ///< requests per second in the busiest 5 minutes
};

/// One fleet that the search tried.
struct FrontierPoint {
  std::string fleet{};        ///< "H100, tensor parallel 4, p5.48xlarge, 3 to 8 replicas, HPA"
  std::string short_fleet{};  ///< "H100, TP 4, p5.48xlarge, 3 to 8 replicas, HPA"
  ScalerKind scaler = ScalerKind::capstan;
  std::int64_t attainment_ppm = 0;      ///< lowest over the seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the seeds
  bool holds_slo = false;
  bool is_efficient = false;  ///< no other point costs less and meets as much
  std::int64_t seeds = 1;     ///< number of simulations with different seeds
  bool is_chosen = false;     ///< the fleet of the plan
  bool is_runner_up = false;  ///< `ServicePlan::runner_up`
  /// The simulated scenario file. Empty: not kept, because the fleet is neither efficient nor the runner-up.
  std::string scenario{};
};

/// Result of the search for a minimum with which the fleet holds the SLO while a zone is lost.
struct ZoneLossMinimum {
  std::vector<RoleReplicas> roles{};    ///< in the order of `ServicePlan::roles`; the maximum is that of the plan
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the seeds, with all zones
  bool holds_slo = false;               ///< false: even the highest minimum that was tried misses the SLO
  Trial trial{};                        ///< the worst seed while the zone is lost
};

/// Results of the plan's fleet if all or half of its base is bought as spot. The plan itself has no spot nodes in the
/// base.
struct SpotBase {
  std::uint32_t share_ppm = 1'000'000;  ///< share of the nodes of the minimum that are spot, millionths
  std::vector<RoleReplicas> roles{};    ///< in the order of `ServicePlan::roles`; the maximum is that of the plan
  std::int64_t micro_usd_per_hour = 0;  ///< mean over the seeds, with the reclaims that the spec states
  bool holds_slo = false;               ///< true: the SLO holds under every seed, also under more reclaims
  std::vector<Trial> seeds{};
  Trial reclaims{};  ///< the worst seed under more reclaims
};

/// Result of a search without the limits of the spec, for a service that misses its SLO within these limits.
struct RaisedLimits {
  /// "limits.gpus: 40 and limits.usd_per_hour: 275.20". Empty: even without limits no fleet holds the SLO.
  std::string bounds{};
  std::string fleet{};              ///< the fleet that holds the SLO within these bounds: "20 replicas of ..."
  std::int64_t attainment_ppm = 0;  ///< lowest of the seeds of `fleet`; of the best fleet if none holds the SLO
  std::int64_t seeds = 0;           ///< number of simulations of this fleet
};

/// A part of a replica's start.
enum class StartStep : std::uint8_t { node, image_pull, weights, engine_start, warm_up };

/// One phase of a replica's start.
struct StartPhase {
  StartStep step = StartStep::node;
  Duration typical{};
  Duration longest{};
};

/// The plan of one service.
struct ServicePlan {
  std::string service{};           ///< name of the service in the spec
  std::vector<RoleFleet> roles{};  ///< the only role, or prefill and decode
  MeanLoad mean_load{};            ///< means of the simulated load
  std::uint32_t spot_ppm = 0;      ///< share of the nodes above the minimum that are bought as spot, millionths
  ScalerKind scaler = ScalerKind::capstan;  ///< the cheapest that holds the SLO, or else the one that meets most
  std::vector<ScalerVariant> variants{};    ///< the chosen scaler and the others, in the order of `ScalerKind`
  bool holds_slo = false;                   ///< every seed met the SLO's attainment and goodput
  std::vector<Trial> seeds{};               ///< trials of the chosen scaler, at least five
  std::vector<Trial> robustness{};          ///< trials of the chosen scaler: the worst seed of each condition
  std::string lost_zone{};                  ///< zone lost in one of these trials; empty: the cluster has one zone
  /// Nothing: the cluster has one zone, the fleet holds the SLO without a zone, or it misses the SLO with all zones.
  std::optional<ZoneLossMinimum> zone_loss{};
  /// Nothing: the plan misses its SLO, its base has spot nodes already, or spot nodes cannot be bought for less.
  std::optional<SpotBase> spot_base{};
  std::vector<FrontierPoint> frontier{};     ///< the cheapest first
  std::optional<FrontierPoint> runner_up{};  ///< the best fleet of another GPU kind or parallelism
  std::vector<StartPhase> start{};           ///< phases of a replica's start, in order
  std::string scenario{};                    ///< the simulated scenario file, with the chosen scaler
  std::string comparison{};                  ///< scenario with the autoscaler files of the plan as its policies
  std::string measured_profile_text{};       ///< profile that the scenario names; empty: none was measured
  std::string sufficient_limits{};  ///< limits that are high enough: "40 GPUs, 320.00 USD/h"; empty: none is too low
  std::int64_t peak_factor = 1;     ///< the search multiplied the engine table's replicas for the peak by this factor
  std::vector<std::string> bounded_by{};  ///< limits that lowered the maximum: "limits.gpus: 40 of 64 ..."
  std::optional<RaisedLimits> raised{};   ///< nothing: the SLO holds, no limit binds, or no other limit was simulated
  /// The service's share of the cost of nodes that it shares with others, modelled from the replicas of the
  /// simulations. Nothing: it shares no nodes, and its cost is that of the simulations.
  std::optional<std::int64_t> shared_micro_usd_per_hour{};
  std::string shared_why{};     ///< the formula of that share with its numbers
  std::string not_simulated{};  ///< parts that the simulation leaves out; empty: none
};

/// Results of one service in the simulations of all services on one cluster.
struct TogetherService {
  std::string service{};                       ///< name of the service in the spec
  std::vector<std::int64_t> attainment_ppm{};  ///< met requests by seed, millionths
  Duration ttft_p99{};                         ///< the worst of the seeds
  Duration tpot_p99{};                         ///< the worst of the seeds
  bool holds_slo = true;                       ///< attainment and goodput of the spec hold under every seed

  std::int64_t lowest_ppm() const;
};

/// Results of one class of jobs in the simulations of all services and jobs on one cluster. Counts, GPU time and prices
/// are sums over the seeds.
struct TogetherJobs {
  std::string tenant{};
  std::string name{};  ///< name of the class in the spec
  std::int64_t arrived = 0;
  std::int64_t ended = 0;
  std::int64_t computing = 0;      ///< jobs that had begun to compute and had not ended when the simulation ended
  std::int64_t waiting = 0;        ///< jobs that had not begun to compute when the simulation ended
  Duration wait_p50{};             ///< time from arrival to computing, median; the worst of the seeds
  Duration wait_p99{};             ///< the worst of the seeds
  std::int64_t restarts = 0;       ///< restarts for any reason
  std::int64_t preempted = 0;      ///< restarts that made room for a gang with a higher priority
  std::int64_t resized = 0;        ///< changes of the number of pods of elastic jobs while they ran
  GpuNanoseconds gpu_ns = 0;       ///< GPU time that the pods had
  GpuNanoseconds lost_gpu_ns = 0;  ///< GPU time whose work was lost in restarts
  std::int64_t micro_usd = 0;      ///< price of `gpu_ns`
};

/// Fleets of all services on one cluster, simulated together, with the jobs of the tenants.
struct TogetherTrials {
  std::vector<TogetherService> services{};   ///< by service of the spec
  std::vector<TogetherJobs> jobs{};          ///< by class of jobs that the pools of the plan can hold
  std::int64_t seeds = 0;                    ///< number of simulations with different seeds
  std::int64_t micro_usd_per_hour = 0;       ///< cost of all nodes, mean of the seeds
  std::int64_t jobs_micro_usd_per_hour = 0;  ///< price of the GPU time of the jobs, mean of the seeds

  bool holds_slo() const;
};

/// Higher minima of the services that miss their SLO only when all services share the cluster.
struct TogetherRemedy {
  /// Replicas of each service of the spec, by role. Empty for a service whose minimum is that of the plan.
  std::vector<std::vector<RoleReplicas>> minima{};
  TogetherTrials trials{};
};

/// The proof that the services hold their SLO on one cluster, with the pools and the limits of the plan.
struct TogetherProof {
  TogetherTrials trials{};
  std::string scenario{};                  ///< the simulated scenario file
  std::optional<TogetherRemedy> remedy{};  ///< the last minima that were tried; nothing: none were needed or possible
};

}  // namespace capstan::plan
