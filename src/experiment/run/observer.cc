#include "experiment/run/observer.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/hash.h"
#include "experiment/run/refusals.h"
#include "experiment/text/words.h"
#include "model/reason.h"
#include "model/role_names.h"

namespace capstan::experiment {
namespace {

constexpr std::size_t kMostMoments = 8;
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
          .retries = counts.retries};
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

DisruptionFigures disruptions(const sim::ClusterMeter& cluster, RequestCount cut, RequestCount cut_by_spot) {
  return {.consolidation = cluster.killed_by_termination,
          .scale_down = cluster.drains_cut,
          .eviction = cluster.killed_by_eviction,
          .spot = cluster.killed_by_spot,
          .requests_cut = cut,
          .requests_cut_forced = cut_by_spot};
}

}  // namespace

Observer::Observer(const SimulationSetup& setup, sim::Fleet& fleet, sim::Cluster& cluster, const FleetHook& hook,
                   const WatchedWorld& world, const control::Controller& controller, Why why)
    : setup_(setup),
      fleet_(fleet),
      cluster_(cluster),
      hook_(hook),
      world_(world),
      controller_(controller),
      why_(std::move(why)),
      settling_(setup) {
  for (const model::Service& service : cluster.truth().catalog->services) {
    roles_.push_back({service.workload.role, variant_name(*cluster.truth().catalog, service), 0, 0});
  }
}

void Observer::minute(Instant now) {
  Minute here;
  here.waiting = fleet_.waiting();
  const model::Snapshot& truth = cluster_.truth();
  truth.services.for_each(
      [&](model::ServiceId, const model::ServiceState& state) { here.desired += state.desired_replicas; });
  std::vector<ReplicaCount> ready(roles_.size());
  truth.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    ready[gang.service.value] += gang.phase == model::Gang::Phase::ready ? 1 : 0;
  });
  for (std::size_t i = 0; i < ready.size(); ++i) {
    here.ready += ready[i];
    roles_[i].ready_minutes += ready[i];
    roles_[i].ready_peak = std::max(roles_[i].ready_peak, ready[i]);
  }
  here.gpus_paid = gpus_paid(truth);

  const sim::ClusterMeter meter = cluster_.meter(now);
  watch_queue(now, here);
  watch_held(now, meter);
  watch_disruptions(now, meter);
  watch_groups(now);
  limits_.minute(truth);
  watch_settling(now);
  if (setup_.verify) verify(now);
  minutes_.push_back(here);
  minute_start_ = now;
}

void Observer::finish(Instant end) {
  // A request that arrives exactly at the end of a minute belongs to the next one.
  const sim::RequestMinute& last = fleet_.meter().minutes.back();
  const bool unseen = fleet_.meter().minutes.size() > minutes_.size();
  if (unseen && (end > minute_start_ || last.arrived > 0)) minute(end);
}

void Observer::watch_queue(Instant now, const Minute& here) {
  if (here.waiting <= 2 * std::max<ReplicaCount>(here.ready, 1)) return close(queue_);
  if (queue_.from.is_never()) queue_.from = now;
  queue_.sum += here.waiting;
  if (here.waiting <= queue_.worst.weight) return;
  const std::string coming = on_their_way(here.desired, here.ready);
  model::ReasonCode code = controller_.scale_decision({0}).why.code;
  std::string why = ": " + why_so_many();
  // A missing reading of a replica that has just become ready explains why the number is not lowered. It does not
  // explain why requests wait.
  if (code == model::ReasonCode::signal_missing && !coming.empty()) {
    code = model::ReasonCode::capacity_on_its_way;
    why.clear();
  }
  queue_.worst = {now, here.waiting,
                  fmt::format("{} waited for {}, {} wanted{}{}", counted(here.waiting, "request", "requests"),
                              counted(here.ready, "ready replica", "ready replicas"),
                              here.desired == 1 ? "1 was" : grouped(here.desired) + " were", coming, why),
                  std::string(model::name(code))};
}

/// Returns why wanted replicas do not serve yet: " (2 starting, 1 without GPUs)". Empty if all serve.
std::string Observer::on_their_way(ReplicaCount desired, ReplicaCount ready) const {
  ReplicaCount starting = 0;
  cluster_.truth().gangs.for_each(
      [&](model::GangId, const model::Gang& gang) { starting += gang.phase == model::Gang::Phase::starting ? 1 : 0; });
  const ReplicaCount unplaced = desired - ready - starting;
  std::string words;
  if (starting > 0 && ready < desired) words = grouped(starting) + " starting";
  if (unplaced > 0) words += (words.empty() ? "" : ", ") + grouped(unplaced) + " without GPUs";
  return words.empty() ? "" : " (" + words + ")";
}

/// Returns the last decision in words, for each kind of replicas if there are several.
std::string Observer::why_so_many() const {
  const std::vector<model::Service>& services = cluster_.truth().catalog->services;
  std::string words;
  for (model::ServiceId id{0}; id.value < services.size(); ++id.value) {
    const std::string why = why_(id);
    if (services.size() == 1) return why;
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
                 fmt::format("{} GPU-minutes were held and paid within {} min by gangs that lacked a pod",
                             tenths(held_.sum, 60), whole_minutes(now - held_.from)),
                 "partial_gang"};
}

void Observer::watch_disruptions(Instant now, const sim::ClusterMeter& meter) {
  const std::int64_t more = meter.disruptions() - disruptions_before_;
  const RequestCount cut = fleet_.meter().counts.cut - cut_before_;
  disruptions_before_ += more;
  cut_before_ += cut;
  if (more == 0) return;
  moments_.push_back({now, 60 * more + cut,
                      fmt::format("{} ended within a minute, and {} with {}",
                                  more == 1 ? "1 running replica was" : grouped(more) + " running replicas were",
                                  counted(cut, "request", "requests"), more == 1 ? "it" : "them"),
                      "disruption"});
}

void Observer::watch_groups(Instant now) {
  // A release takes effect after the hold plus the latency of the action.
  const Duration limit = setup_.policies.provision->hold + kMinuteLength;
  cluster_.truth().claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const bool on_its_way =
        claim.phase == model::Claim::Phase::requested || claim.phase == model::Claim::Phase::launched;
    if (claim.group.valid() && on_its_way && now - claim.requested_at > limit) overheld_.insert(claim.group);
  });
}

void Observer::watch_settling(Instant now) {
  const sim::RequestCounts& counts = fleet_.meter().counts;
  const model::Snapshot& truth = cluster_.truth();
  std::vector<ReplicaCount> missing(roles_.size());
  truth.services.for_each(
      [&](model::ServiceId id, const model::ServiceState& state) { missing[id.value] = state.desired_replicas; });
  truth.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    missing[gang.service.value] -= gang.phase == model::Gang::Phase::ready ? 1 : 0;
  });
  const auto& starts = cluster_.cold_starts();
  for (; starts_seen_ < starts.size(); ++starts_seen_) {
    longest_start_ = std::max(longest_start_, starts[starts_seen_].ready_at - starts[starts_seen_].bound_at);
  }
  Settling::Look look{.has_requests = counts.arrived > arrived_before_ || counts.in_flight + counts.queued > 0,
                      .refused = cluster_.meter(now).launches_refused,
                      .actions = controller_.stats().actions,
                      .is_out_of_room = is_out_of_room(setup_, truth),
                      .longest_start = longest_start_};
  for (const ReplicaCount lacking : missing) look.missing += std::abs(lacking);
  arrived_before_ = counts.arrived;
  settling_.minute(now, look);
}

void Observer::verify(Instant) {
  not_conserved_ += fleet_.check() && fleet_.meter().counts.conserved() ? 0 : 1;
  cluster_.check_invariants();
}

void Observer::close(Stretch& stretch) {
  if (!stretch.from.is_never()) moments_.push_back(stretch.worst);
  stretch = {};
}

RunResult Observer::result(Instant end) {
  close(queue_);
  close(held_);
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
  if (roles_.size() > 1) result.roles = roles_;
  std::ranges::stable_sort(moments_, std::ranges::greater{}, &Moment::weight);
  if (moments_.size() > kMostMoments) moments_.resize(kMostMoments);
  result.moments = std::move(moments_);
  result.invariants = {.partial_gang = stats.violations.partial_gang,
                       .work_cut = result.disruptions.requests_cut - result.disruptions.requests_cut_forced,
                       .lowered_blind = stats.violations.lowered_blind,
                       .limit_exceeded = stats.violations.limit_exceeded + limits_.broken(),
                       .not_repeatable = 0,  // the caller counts them, with the decider
                       .group_overheld = static_cast<std::int64_t>(overheld_.size()),
                       .oracle = world_.oracle_rows(),
                       .not_conserved = not_conserved_ + open_balances(result),
                       .unsettled = settling_.broken()};
  StateHash hash;
  hash.add(fleet_.state_hash());
  hash.add(cluster_.state_hash());
  result.state_hash = hash.value();
  return result;
}

void Observer::read_requests(RunResult& result) {
  const sim::RequestMeter& fleet = fleet_.meter();
  result.requests = figures(fleet.counts);
  result.ttft = percentiles(fleet.ttft);
  result.tpot = percentiles(fleet.tpot);
  result.e2e = percentiles(fleet.e2e);
  result.prompt_tokens = fleet.input_tokens;
  result.cached_tokens = fleet.cached_tokens;
  result.tokens = fleet_.tokens();
  result.useful_gpu_ns = fleet.useful_gpu_ns();
  result.disruptions.requests_cut = fleet.counts.cut;
  for (std::size_t i = 0; i < minutes_.size() && i < fleet.minutes.size(); ++i) {
    minutes_[i].arrived = fleet.minutes[i].arrived;
    minutes_[i].completed = fleet.minutes[i].completed;
    minutes_[i].met = fleet.minutes[i].met;
    minutes_[i].ttft_p99_us = fleet.minutes[i].ttft_p99_us;
  }
  result.minutes = std::move(minutes_);
}

void Observer::read_cluster(RunResult& result, Instant end) {
  const sim::ClusterMeter cluster = cluster_.meter(end);
  result.gpu_ns = gpu_nanoseconds(cluster.gpu_time);
  result.node_gpu_ns = cluster.paid_gpu_time / 1000;
  result.spending = spending(cluster, *cluster_.truth().catalog);
  std::ranges::transform(cluster.cost, result.cost_micro_usd.begin(), &MicroUsd::count);
  result.node_micro_usd = cluster.total_cost.count;
  result.gangs_deferred = cluster.gangs_deferred;
  result.cold_starts = cluster.cold_starts;
  result.wakes = cluster.wakes;
  result.conversions = cluster.conversions;
  std::vector<Duration> starts;
  for (const sim::ColdStart& start : cluster_.cold_starts()) starts.push_back(start.ready_at - start.bound_at);
  std::ranges::sort(starts);
  if (!starts.empty()) {
    result.cold_start_p50 = starts[(starts.size() - 1) / 2];
    result.cold_start_max = starts.back();
  }
  result.nodes_launched = cluster.launches;
  result.nodes_refused = cluster.launches_refused;
  if (cluster.launches_homeless > 0) {
    result.warnings.push_back(fmt::format(
        "{} found no room to stand in: the cluster's zones, racks and NVLink domains hold so many machines and no more",
        counted(cluster.launches_homeless, "launch", "launches")));
  }
  for (std::string& warning : refusal_warnings(cluster, setup_.cluster.catalog->services.front().workload.together)) {
    result.warnings.push_back(std::move(warning));
  }
  result.nodes_released = cluster.nodes_removed;
  result.disruptions = disruptions(cluster, result.disruptions.requests_cut, hook_.cut(sim::Interruption::spot));
}

}  // namespace capstan::experiment
