#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "experiment/run/job_figures.h"
#include "experiment/run/queue_watch.h"
#include "experiment/run/run_history.h"
#include "model/offering.h"
#include "model/role_names.h"
#include "model/service.h"
#include "model/slo.h"
#include "sim/cluster/cluster_meter.h"
#include "sim/fleet/request_meter.h"

namespace capstan::experiment {

/// The states of a paid GPU; each GPU is in exactly one at any moment (invariant 8).
using sim::GpuState;
using sim::kGpuStates;
template <typename T>
using ByGpuState = std::array<T, kGpuStates>;

/// Requests by outcome. Conservation: arrived = completed + in_flight + queued + rejected + failed + timed_out.
struct RequestFigures {
  RequestCount arrived = 0;
  RequestCount completed = 0;
  RequestCount met = 0;        ///< completed within every bound of the SLO
  RequestCount rejected = 0;   ///< requests whose every attempt was refused by full queues
  RequestCount failed = 0;     ///< requests whose replica ended and whose retries were used up
  RequestCount timed_out = 0;  ///< requests that the client gave up
  RequestCount in_flight = 0;  ///< requests that were being computed at the end of the run
  RequestCount queued = 0;     ///< requests that were waiting at the end of the run
  RequestCount retries = 0;    ///< attempts after the first
  /// Times at which an engine had no room in KV memory and gave up what it had computed of a request.
  RequestCount kv_preemptions = 0;

  RequestCount unmet() const { return rejected + failed + timed_out; }
  RequestCount late() const { return completed - met; }  ///< requests that completed outside a bound of the SLO
};

/// Latencies of completed requests in microseconds; 0 if none completed.
struct Percentiles {
  std::int64_t p50_us = 0;
  std::int64_t p90_us = 0;
  std::int64_t p95_us = 0;
  std::int64_t p99_us = 0;
  std::int64_t mean_us = 0;
};

/// Replicas that were ended while they served, by cause. A forced end is not caused by a decision of the policy.
struct DisruptionFigures {
  std::int64_t consolidation = 0;        ///< replicas ended because their node was given back
  std::int64_t scale_down = 0;           ///< replicas ended before they had finished their requests
  std::int64_t eviction = 0;             ///< replicas ended because one of their pods was evicted
  std::int64_t spot = 0;                 ///< forced: replicas ended by an interruption
  RequestCount requests_cut = 0;         ///< requests that these replicas held; the clients may try again
  RequestCount requests_cut_forced = 0;  ///< requests in `requests_cut` whose replica had a forced end
};

/// How often a design invariant (docs/invariants.md) was broken. Capstan's own policies must show zeros.
struct InvariantFigures {
  std::int64_t partial_gang = 0;              ///< 1: moments at which a gang began to hold a part of its GPUs
  std::int64_t work_cut = 0;                  ///< 2: requests ended by a decision; forced ends do not count
  std::int64_t jobs_restarted = 0;            ///< 2: restarts of jobs by a decision, without preemptions
  std::int64_t scale_downs_without_data = 0;  ///< 3: scale-downs while a ready replica gave no usable reading
  std::int64_t limit_exceeded = 0;            ///< 4: launches or scale-ups above a limit
  std::int64_t not_repeatable = 0;            ///< 5: decisions that a replay did not repeat
  std::int64_t expired_group_holds = 0;       ///< 6: node groups neither complete nor released after their hold
  std::int64_t unobservable_values = 0;  ///< 7: observed rows with values that a controller in production cannot know
  std::int64_t not_conserved = 0;        ///< 8: balances of requests, tokens, GPU time or money that did not close
  /// 12: actions after the settling time, plus times without requests in which the goal was not reached.
  std::int64_t unsettled = 0;

  std::int64_t total() const {
    return partial_gang + work_cut + jobs_restarted + scale_downs_without_data + limit_exceeded + not_repeatable +
           expired_group_holds + unobservable_values + not_conserved + unsettled;
  }
};

/// One minute of a run, for charts.
struct Minute {
  RequestCount arrived = 0;
  RequestCount completed = 0;    ///< requests that arrived in this minute and completed, whenever that was
  RequestCount met = 0;          ///< requests that arrived in this minute and met the SLO, whenever they completed
  RequestCount waiting = 0;      ///< waiting requests at the end of the minute
  ReplicaCount desired = 0;      ///< desired replicas at the end of the minute, all roles together
  ReplicaCount ready = 0;        ///< ready replicas at the end of the minute
  GpuCount gpus_paid = 0;        ///< paid GPUs at the end of the minute
  std::int64_t ttft_p99_us = 0;  ///< TTFT of the requests whose first token came in this minute
  std::int64_t tpot_p99_us = 0;  ///< time per output token of the requests that completed in this minute
  sim::PhaseTimes phases{};      ///< phase times of the requests whose phase ended in this minute
};

/// The replicas of one role, if prefill and decode are separate, or of one variant, if there are several.
struct RoleFigures {
  model::Role role = model::Role::both;
  std::string variant;
  ReplicaCount ready_peak = 0;     ///< most ready replicas at the end of a minute
  ReplicaCount ready_minutes = 0;  ///< sum of the ready replicas at the ends of all minutes

  std::int64_t ready_mean_milli(std::size_t minutes) const {
    return minutes == 0 ? 0 : ready_minutes * 1000 / static_cast<std::int64_t>(minutes);
  }
  /// Returns the name of the variant or of the role.
  std::string name() const { return variant.empty() ? std::string(model::name(role)) : variant; }
};

/// The starts of replicas on new GPUs.
struct ColdStartFigures {
  std::int64_t count = 0;
  Duration p50{};  ///< median time from bound to ready
  Duration max{};
};

/// The figures of one service of a scenario that has several services, or jobs.
struct ServiceFigures {
  std::string name;
  std::string team;  ///< empty: none
  model::Slo slo;
  RequestFigures requests;
  Percentiles ttft;
  Percentiles tpot;
  Percentiles e2e;
  Tokens delivered_tokens = 0;
  GpuNanoseconds gpu_ns = 0;                     ///< GPU time that its pods had
  std::int64_t micro_usd = 0;                    ///< price of that GPU time
  ReplicaCount ready_peak = 0;                   ///< most ready replicas at the end of a minute
  ReplicaCount ready_minutes = 0;                ///< sum of the ready replicas at the ends of all minutes
  std::vector<Minute> minutes{};                 ///< `gpus_paid` is 0, because services share the nodes
  ByGpuState<GpuNanoseconds> gpu_ns_by_state{};  ///< parts of `gpu_ns`
  std::vector<RoleFigures> roles{};              ///< prefill and decode, or variants; empty for replicas of one kind
  ColdStartFigures cold_starts{};
  std::int64_t scale_changes = 0;  ///< changes of its wanted replicas, without the first number

  /// Returns the share of arrived requests that were met, in millionths; 0 when nothing arrived.
  std::int64_t attainment_ppm() const;
  bool holds_slo() const { return requests.arrived == 0 || attainment_ppm() >= slo.attainment_ppm; }
};

/// The figures of one team: the sums over its services and classes of jobs.
struct TeamFigures {
  std::string name;  ///< empty: services and jobs that name no team
  RequestCount arrived = 0;
  RequestCount met = 0;  ///< requests that held the SLO of their service
  std::int64_t jobs_arrived = 0;
  std::int64_t jobs_ended = 0;
  GpuNanoseconds gpu_ns = 0;   ///< GPU time that its pods had
  std::int64_t micro_usd = 0;  ///< price of that GPU time
};

/// A moment that explains a result, as one sentence with its numbers.
struct Moment {
  Instant at;
  /// GPU-seconds or requests that the moment cost, or GPU-minutes for which jobs waited. A larger weight comes first.
  std::int64_t weight = 0;
  std::string sentence;
  std::string reason;  ///< stable reason code, or empty
};

/// The cost of the nodes of one offering in one pool.
struct Spending {
  std::string pool;  ///< empty for nodes that exist at the start and belong to no pool
  std::string zone;
  std::string instance_type;
  model::CapacityType capacity = model::CapacityType::on_demand;
  GpuNanoseconds gpu_ns = 0;
  std::int64_t micro_usd = 0;
};

/// A change of the replicas that a policy wants.
struct ScaleStep {
  Instant at;
  ReplicaCount desired = 0;
  std::string why;                       ///< reason in one sentence, without a full stop
  model::Role role = model::Role::both;  ///< role of the replicas
  std::string variant{};                 ///< variant of the replicas; empty if the service has one variant
  std::string arithmetic{};              ///< arithmetic of the decision; empty without a history, and for a peer

  /// Returns "prefill", "decode" or the variant; empty if there is one kind of replica.
  std::string part() const { return role == model::Role::both ? variant : std::string(model::name(role)); }
};
inline constexpr std::size_t kMaxScaleSteps = 10'000;  ///< largest number of kept steps; later ones are only counted

/// The result of one run of one policy. Figures are integers, so that equal runs give equal bytes.
struct RunResult {
  std::string policy;
  std::uint64_t seed = 0;
  Duration simulated{};  ///< time from the start of the run to its end

  RequestFigures requests;
  Percentiles ttft;
  Percentiles tpot;
  Percentiles e2e;
  Tokens prompt_tokens = 0;  ///< prompt tokens of completed requests
  Tokens cached_tokens = 0;  ///< the part of these that was found in a prefix cache and not computed
  sim::TokenFigures tokens;  ///< tokens of answers

  ByGpuState<GpuNanoseconds> gpu_ns{};        ///< paid GPU time, by state
  ByGpuState<std::int64_t> cost_micro_usd{};  ///< cost of that GPU time, by state
  GpuNanoseconds node_gpu_ns = 0;             ///< GPU time of the nodes that were paid for, metered separately
  std::int64_t node_micro_usd = 0;            ///< cost of those nodes, metered separately
  GpuNanoseconds empty_node_gpu_ns = 0;       ///< GPU time of nodes that accepted pods and had none
  std::int64_t empty_node_micro_usd = 0;      ///< price of that GPU time
  std::vector<Spending> spending;             ///< the cost by pool, zone, instance type and capacity type
  /// The least GPU time in which the met requests could have been served, plus the GPU time of the jobs' work without
  /// the lost part.
  GpuNanoseconds useful_gpu_ns = 0;

  std::int64_t gangs_deferred = 0;  ///< gangs that waited for GPUs longer than a scheduling cycle
  std::int64_t cold_starts = 0;     ///< replicas that went through a start
  std::int64_t wakes = 0;           ///< replicas that were woken from sleep
  std::int64_t conversions = 0;     ///< replicas that changed their role
  Duration cold_start_p50{};        ///< median time from bound to ready
  Duration cold_start_max{};
  std::int64_t nodes_launched = 0;
  std::int64_t nodes_refused = 0;  ///< launches for which the provider had no capacity
  std::int64_t nodes_released = 0;
  std::int64_t decisions = 0;            ///< actions submitted
  std::int64_t reversals = 0;            ///< changes of direction of the desired replicas within 15 minutes
  ReplicaCount replicas_peak = 0;        ///< most replicas that were ready at the same time
  std::vector<RoleFigures> roles;        ///< prefill and decode, or variants; empty if all replicas are of one kind
  std::vector<ServiceFigures> services;  ///< figures by service; empty for a scenario with one service and without jobs
  std::vector<JobFigures> jobs;          ///< by class of jobs
  std::vector<QueueFigures> queues;      ///< by queue of the scenario
  std::vector<TeamFigures> teams;        ///< in the order in which the scenario names them; empty if it names none
  GpuNanoseconds idle_node_gpu_ns = 0;   ///< GPU time of GPUs that no pod had; only if several users share the cluster
  std::int64_t idle_node_micro_usd = 0;  ///< price of that GPU time
  DisruptionFigures disruptions;
  InvariantFigures invariants;

  std::string swept_from;              ///< the policy whose settings this one varies; empty: none
  std::int64_t scale_changes = 0;      ///< changes of the wanted replicas, without the first number
  std::vector<ScaleStep> scale_steps;  ///< the first number of wanted replicas, and every change
  std::vector<std::string> warnings;   ///< facts without which the policy's figures would be misleading
  std::vector<Moment> moments;         ///< at most 8 moments, the largest weight first
  std::vector<Minute> minutes;
  std::optional<RunHistory> history{};  ///< what happened to nodes and replicas; none unless the setup asks for it
  std::uint64_t state_hash = 0;

  /// Returns true if services, or a service and jobs, or jobs alone share the cluster, so that figures are sums.
  bool is_shared() const { return !services.empty() || !jobs.empty(); }
  /// Returns true if the scenario has jobs and no service, so that there are no requests.
  bool has_only_jobs() const { return services.empty() && !jobs.empty(); }
  GpuNanoseconds paid_gpu_ns() const;
  std::int64_t total_micro_usd() const;
  /// Returns the cost of a thousand met requests; none if no request was met.
  std::optional<std::int64_t> micro_usd_per_1000_met() const;
  /// Returns the cost of a million delivered answer tokens; none if no token was delivered.
  std::optional<std::int64_t> micro_usd_per_million_tokens() const;
  /// Returns the share of arrived requests that were met, in millionths; 0 when nothing arrived. With only jobs, it is
  /// the share of `job_outcomes`.
  std::int64_t attainment_ppm() const;
  /// Returns the outcomes of the jobs of all classes together.
  JobOutcomes job_outcomes() const;
  /// Returns 100 x attainment x (useful / paid GPU time) in 1/1000 of a point; 0 when nothing arrived or was paid.
  std::int64_t score_milli() const;
};

/// Returns the number of violated balances of invariant 8. There are five: requests (arrived = ended or under way),
/// tokens (generated = delivered, discarded or under way), GPU time and money (the sums over the states equal the sums
/// over the nodes), and teams (the sums over the teams equal the sums over services and jobs).
std::int64_t open_balances(const RunResult& result);

}  // namespace capstan::experiment
