#include "experiment/run/observer.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/run/full_queue.h"
#include "experiment/run/refusals.h"
#include "experiment/run/room_warning.h"
#include "experiment/run/team_figures.h"
#include "experiment/text/words.h"
#include "model/reason.h"
#include "model/role_names.h"
#include "sim/cluster/queue_room.h"

namespace capstan::experiment {
namespace {

constexpr std::size_t kMaxMoments = 8;
constexpr Duration kMinuteLength = std::chrono::minutes(1);

Percentiles percentiles(const sim::LatencyHistogram& histogram) {
  if (histogram.count() == 0) return {};
  return {.p50_us = histogram.percentile_us(500'000),
          .p90_us = histogram.percentile_us(900'000),
          .p95_us = histogram.percentile_us(950'000),
          .p99_us = histogram.percentile_us(990'000),
          .mean_us = histogram.mean_us()};
}

RequestFigures figures(const sim::RequestCounts& counts) {
  return {.arrived = counts.arrived,
          .completed = counts.completed,
          .met = counts.met,
          .rejected = counts.rejected,
          .failed = counts.failed,
          .timed_out = counts.timed_out,
          .in_flight = counts.in_flight,
          .queued = counts.queued,
          .retries = counts.retries,
          .kv_preemptions = counts.preempted};
}

std::int64_t whole_minutes(Duration d) { return std::chrono::duration_cast<std::chrono::minutes>(d).count(); }

/// Returns the GPU time of each state in nanoseconds. Fractions are carried from state to state, so that the sum over
/// the states is the exact total, rounded down once.
ByGpuState<GpuNanoseconds> gpu_nanoseconds(const std::array<sim::GpuTime, kGpuStates>& milli_gpu_time) {
  ByGpuState<GpuNanoseconds> time{};
  sim::GpuTime so_far = 0;
  for (std::size_t s = 0; s < kGpuStates; ++s) {
    const sim::GpuTime before = so_far / 1000;
    so_far += milli_gpu_time[s];
    time[s] = so_far / 1000 - before;
  }
  return time;
}

std::vector<Spending> spending(const sim::ClusterMeter& meter, const model::Catalog& catalog) {
  std::vector<Spending> rows;
  for (const sim::Spending& part : meter.spending) {
    const model::Offering& offering = catalog.offering(part.offering);
    rows.push_back({.pool = part.pool.valid() ? catalog.pool(part.pool).name : "",
                    .zone = offering.zone.valid() ? catalog.domain(offering.zone).name : "",
                    .instance_type = offering.instance_type,
                    .capacity = offering.capacity,
                    .gpu_ns = part.paid / 1000,
                    .micro_usd = part.cost.count});
  }
  return rows;
}

/// Returns the GPUs of nodes that exist or boot, all of which are paid for.
GpuCount gpus_paid(const model::Snapshot& truth) {
  GpuCount paid = 0;
  truth.nodes.for_each([&](model::NodeId, const model::Node& node) { paid += node.gpus.count / 1000; });
  truth.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (claim.phase == model::Claim::Phase::launched) paid += truth.catalog->offering(claim.offering).gpus;
  });
  return paid;
}

/// Returns why requested replicas do not serve yet: " (2 starting, 1 without GPUs)". Empty if all serve.
/// @param full_queue  the queue that has no room for the replicas without GPUs; empty: no queue is full
std::string on_their_way(ReplicaCount desired, ReplicaCount starting, ReplicaCount ready,
                         const std::string& full_queue) {
  const ReplicaCount unplaced = desired - ready - starting;
  std::string words;
  if (starting > 0 && ready < desired) words = grouped_text(starting) + " starting";
  if (unplaced > 0) {
    words += (words.empty() ? "" : ", ") + grouped_text(unplaced) + " without GPUs";
    if (!full_queue.empty()) words += ": " + full_queue;
  }
  return words.empty() ? "" : " (" + words + ")";
}

/// Returns the restarts of jobs that a decision of the policy caused. Interruptions of spot nodes and preemptions do
/// not count: the provider causes the first, and the scenario asks for the second.
std::int64_t cut_jobs(const sim::ClusterMeter& cluster) {
  std::int64_t restarts = 0;
  for (const std::int64_t count : cluster.job_restarts) restarts += count;
  return restarts - cluster.job_restarts[static_cast<std::size_t>(sim::Interruption::spot)] -
         cluster.job_restarts[static_cast<std::size_t>(sim::Interruption::preemption)];
}

DisruptionFigures disruptions(const sim::ClusterMeter& cluster, RequestCount cut, RequestCount cut_by_spot) {
  return {.consolidation = cluster.killed_by_termination,
          .scale_down = cluster.drains_cut,
          .eviction = cluster.killed_by_eviction,
          .spot = cluster.killed_by_spot,
          .requests_cut = cut,
          .requests_cut_forced = cut_by_spot};
}

/// Adds the requests of an endpoint to the minutes of a run.
void add_requests(std::vector<Minute>& minutes, const std::vector<sim::RequestMinute>& requests) {
  for (std::size_t i = 0; i < minutes.size() && i < requests.size(); ++i) {
    minutes[i].arrived += requests[i].arrived;
    minutes[i].completed += requests[i].completed;
    minutes[i].met += requests[i].met;
    minutes[i].phases += requests[i].phases;
    minutes[i].ttft_p99_us = std::max(minutes[i].ttft_p99_us, requests[i].ttft_p99_us);
    minutes[i].tpot_p99_us = std::max(minutes[i].tpot_p99_us, requests[i].tpot_p99_us);
  }
}

/// Returns the figures of the cold starts of some services.
template <typename IsCounted>
ColdStartFigures cold_start_figures(const std::vector<sim::ColdStart>& all, IsCounted is_counted) {
  std::vector<Duration> starts;
  for (const sim::ColdStart& start : all) {
    if (is_counted(start.service)) starts.push_back(start.ready_at - start.bound_at);
  }
  if (starts.empty()) return {};
  std::ranges::sort(starts);
  return {.count = std::ssize(starts), .p50 = starts[(starts.size() - 1) / 2], .max = starts.back()};
}

}  // namespace

Observer::Observer(const SimulationSetup& setup, const Endpoints& endpoints, sim::Cluster& cluster,
                   const FleetHook& hook, const WatchedWorld& world, const control::Controller& controller, Why why)
    : setup_(setup),
      endpoints_(endpoints),
      cluster_(cluster),
      hook_(hook),
      world_(world),
      controller_(controller),
      why_(std::move(why)),
      by_endpoint_(endpoints.all().size()),
      minutes_by_endpoint_(endpoints.all().size()),
      queues_(endpoints.all().size()),
      settling_(setup),
      queue_watch_(*cluster.truth().catalog, setup.keep_history),
      job_waits_(setup.cluster) {
  for (const model::Service& service : cluster.truth().catalog->services) {
    roles_.push_back({service.workload.role, variant_name(*cluster.truth().catalog, service), 0, 0});
  }
}

void Observer::minute(Instant now) {
  Minute here;
  here.waiting = endpoints_.waiting();
  const model::Snapshot& truth = cluster_.truth();
  const std::vector<Replicas> replicas = watch_replicas(here);
  here.gpus_paid = gpus_paid(truth);

  const sim::ClusterMeter meter = cluster_.meter(now);
  for (std::size_t i = 0; i < replicas.size(); ++i) watch_queue(now, i, replicas[i]);
  watch_held(now, meter);
  watch_disruptions(now, meter);
  watch_groups(now);
  limits_.minute(truth);
  queue_watch_.minute(truth);
  job_waits_.minute(now, truth);
  watch_settling(now);
  if (setup_.verify) verify(now);
  minutes_.push_back(here);
  minute_start_ = now;
}

/// Counts the replicas of each endpoint, and adds their sums to the minute.
std::vector<Observer::Replicas> Observer::watch_replicas(Minute& here) {
  std::vector<Replicas> replicas(endpoints_.all().size());
  const model::Snapshot& truth = cluster_.truth();
  truth.services.for_each([&](model::ServiceId id, const model::ServiceState& state) {
    replicas[endpoints_.index_of(id)].desired += state.desired_replicas;
  });
  std::vector<ReplicaCount> ready(roles_.size());
  truth.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    if (!gang.service.valid()) return;
    Replicas& of_endpoint = replicas[endpoints_.index_of(gang.service)];
    const bool is_ready = gang.phase == model::Gang::Phase::ready;
    ready[gang.service.value] += is_ready ? 1 : 0;
    of_endpoint.silent += is_ready && !truth.signals_of(id).waiting.usable() ? 1 : 0;
    of_endpoint.starting += gang.phase == model::Gang::Phase::starting ? 1 : 0;
  });
  const auto note = [](RoleFigures& figures, ReplicaCount count) {
    figures.ready_minutes += count;
    figures.ready_peak = std::max(figures.ready_peak, count);
  };
  for (std::uint32_t i = 0; i < ready.size(); ++i) {
    note(roles_[i], ready[i]);
    replicas[endpoints_.index_of({i})].ready += ready[i];
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    note(by_endpoint_[i], replicas[i].ready);
    here.desired += replicas[i].desired;
    here.ready += replicas[i].ready;
    if (has_cluster_alone()) continue;
    minutes_by_endpoint_[i].push_back(
        {.waiting = endpoints_.all()[i].fleet().waiting(), .desired = replicas[i].desired, .ready = replicas[i].ready});
  }
  return replicas;
}

void Observer::finish(Instant end) {
  // A request that arrives exactly at the end of a minute belongs to the next minute.
  const bool unseen = std::ranges::any_of(endpoints_.all(), [&](const Endpoint& endpoint) {
    const std::vector<sim::RequestMinute>& minutes = endpoint.fleet().meter().minutes;
    return minutes.size() > minutes_.size() && (end > minute_start_ || minutes.back().arrived > 0);
  });
  if (unseen) minute(end);
}

void Observer::watch_queue(Instant now, std::size_t endpoint, const Replicas& replicas) {
  const RequestCount waiting = endpoints_.all()[endpoint].fleet().waiting();
  ProblemPeriod& queue = queues_[endpoint];
  if (waiting <= 2 * std::max<ReplicaCount>(replicas.ready, 1)) return close(queue);
  if (queue.from.is_never()) queue.from = now;
  queue.sum += waiting;
  if (waiting <= queue.worst.weight) return;
  const bool lacks_gpus = replicas.desired > replicas.ready + replicas.starting;
  const std::string coming = on_their_way(replicas.desired, replicas.starting, replicas.ready,
                                          lacks_gpus ? full_queue_of(endpoint) : std::string());
  model::ReasonCode code = controller_.scale_decision(endpoints_.all()[endpoint].setup().first).why.code;
  std::string why = "; last decision: " + why_so_many(endpoint);
  // A missing reading of a replica that has just become ready explains why the number is not lowered. It does not
  // explain why requests wait.
  if (code == model::ReasonCode::signal_missing && !coming.empty()) {
    code = model::ReasonCode::capacity_on_its_way;
    why.clear();
  }
  // The reasons of other autoscalers do not say that no replica gave a reading, so this fact is added to the sentence.
  const bool reads_nothing = replicas.ready > 0 && replicas.silent == replicas.ready && coming.empty();
  if (reads_nothing && code != model::ReasonCode::signal_missing && code != model::ReasonCode::fixed_replicas) {
    code = model::ReasonCode::signal_missing;
    why += fmt::format("; {} of {} gave no usable reading", grouped_text(replicas.silent),
                       count_text(replicas.ready, "ready replica", "ready replicas"));
  }
  const std::string of_service = has_one_endpoint() ? "" : " of " + endpoints_.all()[endpoint].setup().name;
  queue.worst = {
      now, waiting,
      fmt::format("{}{} waited while {} ready; {} already requested{}{}", count_text(waiting, "request", "requests"),
                  of_service, count_text(replicas.ready, "replica was", "replicas were"),
                  count_text(replicas.desired, "replica was", "replicas were"), coming, why),
      std::string(model::name(code))};
}

/// Returns the queue that has no room for one more replica of the endpoint, in words. Empty if there is none.
std::string Observer::full_queue_of(std::size_t endpoint) const {
  const model::Snapshot& truth = cluster_.truth();
  const model::Workload& workload = truth.catalog->service(endpoints_.all()[endpoint].setup().first).workload;
  if (!workload.queue.valid()) return "";
  return full_queue_words(*truth.catalog, sim::QueueRoom(truth).held(), workload.queue,
                          whole_gpus(workload.gpus_per_replica));
}

/// Returns the last decision about an endpoint in words. If the endpoint has several roles or variants, returns the
/// decision about each of them, with its name.
std::string Observer::why_so_many(std::size_t endpoint) const {
  const EndpointSetup& setup = endpoints_.all()[endpoint].setup();
  std::string words;
  for (std::uint32_t i = 0; i < setup.variants.size(); ++i) {
    const model::ServiceId id{setup.first.value + i};
    const std::string why = why_(id);
    if (setup.variants.size() == 1) return why;
    const RoleFigures& part = roles_[id.value];
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ",
                         part.variant.empty() ? model::name(part.role) : std::string_view(part.variant), why);
  }
  return words;
}

void Observer::watch_held(Instant now, const sim::ClusterMeter& meter) {
  const std::int64_t held_ms = meter.gpu_milliseconds(sim::GpuState::held);
  const std::int64_t more_s = (held_ms - held_ms_before_) / 1000;
  held_ms_before_ = held_ms;
  if (more_s < 60) return close(held_);
  if (held_.from.is_never()) held_.from = minute_start_;
  held_.sum += more_s;
  held_.worst = {held_.from, held_.sum,
                 fmt::format("incomplete gangs held {} GPU-minutes without work within {} min", tenths(held_.sum, 60),
                             whole_minutes(now - held_.from)),
                 "partial_gang"};
}

void Observer::watch_disruptions(Instant now, const sim::ClusterMeter& meter) {
  const std::int64_t more = meter.disruptions() - disruptions_before_;
  const RequestCount cut = endpoints_.counts().cut - cut_before_;
  disruptions_before_ += more;
  cut_before_ += cut;
  if (more == 0) return;
  moments_.push_back({now, 60 * more + cut,
                      fmt::format("{} stopped in this minute, which cut {}",
                                  count_text(more, "running replica was", "running replicas were"),
                                  cut == 0 ? "no request" : count_text(cut, "request", "requests")),
                      "disruption"});
}

void Observer::watch_groups(Instant now) {
  // A release takes effect some time after the end of the hold, because an action has a latency. A minute is allowed.
  const Duration limit = setup_.policies.provision->hold + kMinuteLength;
  cluster_.truth().claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const bool on_its_way =
        claim.phase == model::Claim::Phase::requested || claim.phase == model::Claim::Phase::launched;
    if (claim.group.valid() && on_its_way && now - claim.requested_at > limit) expired_holds_.insert(claim.group);
  });
}

void Observer::watch_settling(Instant now) {
  const sim::RequestCounts counts = endpoints_.counts();
  const model::Snapshot& truth = cluster_.truth();
  std::vector<ReplicaCount> missing(roles_.size());
  truth.services.for_each(
      [&](model::ServiceId id, const model::ServiceState& state) { missing[id.value] = state.desired_replicas; });
  truth.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    if (gang.service.valid()) missing[gang.service.value] -= gang.phase == model::Gang::Phase::ready ? 1 : 0;
  });
  const auto& starts = cluster_.cold_starts();
  for (; starts_seen_ < starts.size(); ++starts_seen_) {
    longest_start_ = std::max(longest_start_, starts[starts_seen_].ready_at - starts[starts_seen_].bound_at);
  }
  const bool has_jobs = !cluster_.jobs().have_all_ended();
  Settling::MinuteState state{
      .has_work = counts.arrived > arrived_before_ || counts.in_flight + counts.queued > 0 || has_jobs,
      .refused = cluster_.meter(now).launches_refused,
      .actions = controller_.stats().actions,
      .is_out_of_room = is_out_of_room(setup_, truth),
      .longest_start = longest_start_};
  for (const ReplicaCount lacking : missing) state.missing += std::abs(lacking);
  arrived_before_ = counts.arrived;
  settling_.minute(now, state);
}

void Observer::verify(Instant) {
  not_conserved_ += endpoints_.check() && endpoints_.counts().conserved() ? 0 : 1;
  cluster_.check_invariants();
}

void Observer::close(ProblemPeriod& period) {
  if (!period.from.is_never()) moments_.push_back(period.worst);
  period = {};
}

RunResult Observer::result(Instant end) {
  for (ProblemPeriod& queue : queues_) close(queue);
  close(held_);
  for (Moment& moment : job_waits_.take_moments()) moments_.push_back(std::move(moment));
  RunResult result;
  read_requests(result);
  read_cluster(result, end);
  result.policy = setup_.policies.name;
  result.seed = setup_.seed;
  result.simulated = end.since_start;
  const control::Stats& stats = controller_.stats();
  result.decisions = stats.actions;
  result.reversals = stats.reversals;
  result.replicas_peak = hook_.serving_peak();
  if (has_one_endpoint() && roles_.size() > 1) result.roles = roles_;
  std::ranges::stable_sort(moments_, std::ranges::greater{}, &Moment::weight);
  if (moments_.size() > kMaxMoments) moments_.resize(kMaxMoments);
  result.moments = std::move(moments_);
  result.invariants = {.partial_gang = stats.violations.partial_gang,
                       .work_cut = result.disruptions.requests_cut - result.disruptions.requests_cut_forced,
                       .jobs_restarted = cut_jobs(cluster_.meter(end)),
                       .scale_downs_without_data = stats.violations.scale_downs_without_data,
                       .limit_exceeded = stats.violations.limit_exceeded + limits_.broken(),
                       .not_repeatable = 0,  // the caller sets it: only the decider of the run counts these decisions
                       .expired_group_holds = static_cast<std::int64_t>(expired_holds_.size()),
                       .unobservable_values = world_.unobservable_rows(),
                       .not_conserved = not_conserved_ + open_balances(result),
                       .unsettled = settling_.broken()};
  StateHash hash;
  for (const Endpoint& endpoint : endpoints_.all()) hash.add(endpoint.fleet().state_hash());
  hash.add(cluster_.state_hash());
  result.state_hash = hash.value();
  return result;
}

void Observer::read_requests(RunResult& result) {
  sim::LatencyHistogram ttft, tpot, e2e;
  for (const Endpoint& endpoint : endpoints_.all()) {
    const sim::RequestMeter& meter = endpoint.fleet().meter();
    ttft.merge(meter.ttft);
    tpot.merge(meter.tpot);
    e2e.merge(meter.e2e);
    result.prompt_tokens += meter.input_tokens;
    result.cached_tokens += meter.cached_tokens;
    result.useful_gpu_ns += meter.useful_gpu_ns();
    result.tokens += endpoint.fleet().tokens();
  }
  const sim::RequestCounts counts = endpoints_.counts();
  result.requests = figures(counts);
  result.ttft = percentiles(ttft);
  result.tpot = percentiles(tpot);
  result.e2e = percentiles(e2e);
  result.disruptions.requests_cut = counts.cut;
  read_minutes(result);
}

void Observer::read_minutes(RunResult& result) {
  for (const Endpoint& endpoint : endpoints_.all()) add_requests(minutes_, endpoint.fleet().meter().minutes);
  result.minutes = std::move(minutes_);
}

/// Reads the figures of each service, if there are several or if they share the cluster with jobs.
void Observer::read_services(RunResult& result, const sim::ClusterMeter& meter) {
  if (has_cluster_alone()) return;
  for (std::size_t i = 0; i < endpoints_.all().size(); ++i) {
    const Endpoint& endpoint = endpoints_.all()[i];
    const sim::RequestMeter& requests = endpoint.fleet().meter();
    ServiceFigures& figures_of = result.services.emplace_back();
    figures_of.name = endpoint.setup().name;
    figures_of.team = endpoint.setup().team;
    figures_of.slo = endpoint.setup().slo;
    figures_of.requests = figures(requests.counts);
    figures_of.ttft = percentiles(requests.ttft);
    figures_of.tpot = percentiles(requests.tpot);
    figures_of.e2e = percentiles(requests.e2e);
    figures_of.delivered_tokens = endpoint.fleet().tokens().delivered;
    figures_of.ready_peak = by_endpoint_[i].ready_peak;
    figures_of.ready_minutes = by_endpoint_[i].ready_minutes;
    figures_of.minutes = std::move(minutes_by_endpoint_[i]);
    add_requests(figures_of.minutes, requests.minutes);
    for (std::size_t v = 0; v < endpoint.setup().variants.size(); ++v) {
      const sim::GpuUse& use = meter.by_user[endpoint.setup().first.value + v];
      figures_of.gpu_ns += use.gpu_time / 1000;
      figures_of.micro_usd += use.cost.count;
      const ByGpuState<GpuNanoseconds> by_state = gpu_nanoseconds(use.by_state);
      for (std::size_t s = 0; s < kGpuStates; ++s) figures_of.gpu_ns_by_state[s] += by_state[s];
      if (endpoint.setup().variants.size() > 1) figures_of.roles.push_back(roles_[endpoint.setup().first.value + v]);
    }
    figures_of.cold_starts = cold_start_figures(
        cluster_.cold_starts(), [&](model::ServiceId service) { return endpoints_.index_of(service) == i; });
  }
  result.idle_node_gpu_ns = meter.by_user.back().gpu_time / 1000;
  result.idle_node_micro_usd = meter.by_user.back().cost.count;
}

void Observer::read_jobs(RunResult& result, const sim::ClusterMeter& meter) {
  result.jobs = job_figures(setup_.cluster, cluster_.jobs(), setup_.job_goals, meter.end);
  for (std::size_t c = 0; c < result.jobs.size(); ++c) {
    const sim::GpuUse& use = meter.by_user[roles_.size() + c];
    if (c < setup_.job_teams.size()) result.jobs[c].team = setup_.job_teams[c];
    result.jobs[c].gpu_ns = use.gpu_time / 1000;
    result.jobs[c].micro_usd = use.cost.count;
    result.useful_gpu_ns += result.jobs[c].computed_gpu_ns - result.jobs[c].lost_gpu_ns;
  }
}

/// Reads the figures of the queues. Each user of GPUs has one queue.
void Observer::read_queues(RunResult& result, const sim::ClusterMeter& meter) {
  const auto charge = [&](model::QueueId queue, std::size_t user) {
    queue_watch_.charge(queue, meter.by_user[user].gpu_time / 1000, meter.by_user[user].cost.count);
  };
  const std::vector<model::Service>& services = setup_.cluster.catalog->services;
  for (std::size_t s = 0; s < services.size(); ++s) charge(services[s].workload.queue, s);
  const std::vector<sim::JobClass>& classes = setup_.cluster.job_classes;
  for (std::size_t c = 0; c < classes.size(); ++c) charge(classes[c].queue, services.size() + c);
  result.queues = queue_watch_.figures();
}

void Observer::read_cluster(RunResult& result, Instant end) {
  const sim::ClusterMeter cluster = cluster_.meter(end);
  result.gpu_ns = gpu_nanoseconds(cluster.gpu_time);
  read_services(result, cluster);
  read_jobs(result, cluster);
  read_queues(result, cluster);
  result.teams = team_figures(result);
  result.node_gpu_ns = cluster.paid_gpu_time / 1000;
  result.spending = spending(cluster, *cluster_.truth().catalog);
  std::ranges::transform(cluster.cost, result.cost_micro_usd.begin(), &MicroUsd::count);
  result.node_micro_usd = cluster.total_cost.count;
  result.empty_node_gpu_ns = cluster.empty_nodes.gpu_time / 1000;
  result.empty_node_micro_usd = cluster.empty_nodes.cost.count;
  result.gangs_deferred = cluster.gangs_deferred;
  result.cold_starts = cluster.cold_starts;
  result.wakes = cluster.wakes;
  result.conversions = cluster.conversions;
  const ColdStartFigures starts = cold_start_figures(cluster_.cold_starts(), [](model::ServiceId) { return true; });
  result.cold_start_p50 = starts.p50;
  result.cold_start_max = starts.max;
  result.nodes_launched = cluster.launches;
  result.nodes_refused = cluster.launches_refused;
  if (cluster.launches_without_room > 0) {
    result.warnings.push_back(room_warning(setup_.cluster, cluster.launches_without_room));
  }
  for (std::string& warning : refusal_warnings(cluster, named_users(setup_.cluster, has_cluster_alone()))) {
    result.warnings.push_back(std::move(warning));
  }
  for (const ServiceFigures& service : result.services) {
    if (service.requests.arrived > 0) continue;
    result.warnings.push_back(
        fmt::format("no request of {} arrives in this run, so nothing tests its SLO", service.name));
  }
  result.nodes_released = cluster.nodes_removed;
  result.disruptions = disruptions(cluster, result.disruptions.requests_cut, hook_.cut(sim::Interruption::spot));
}

}  // namespace capstan::experiment
