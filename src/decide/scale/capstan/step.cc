#include "decide/scale/capstan/step.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/portable_math.h"
#include "decide/scale/capstan/arrivals.h"
#include "decide/scale/capstan/backlog.h"
#include "decide/scale/capstan/budget.h"
#include "decide/scale/capstan/rounding.h"
#include "decide/scale/capstan/wakes.h"

namespace capstan::decide::scale {
namespace {

using std::chrono::minutes;

constexpr Duration kAssumedStart = minutes(10);  // assumed start time until a start was measured
// A longer time between two decisions counts as this time, because the rest of the gap adds no information.
constexpr Duration kMaxGap = minutes(2);
constexpr Duration kMinShortWindow = minutes(1);  // long enough for one more scrape
constexpr Duration kLongWindow = minutes(20);
constexpr Duration kMaxLongWindow = minutes(60);
constexpr Duration kQueueSoon = std::chrono::seconds(15);  // one scrape
// Margin beyond the slack if replicas can be converted, as a fraction of the demand.
constexpr double kImmediateMargin = 0.1;
constexpr Duration kGpuTimeout = minutes(5);  // wait of a replica for GPUs before they count as unavailable
constexpr Duration kDeniedFor = minutes(10);  // time for which the plan does not use unavailable GPUs
constexpr double kMaxWorth = 1e3;             // largest worth, in replicas of the first variant
constexpr std::int64_t kWorthPrecision = 20;  // relative changes below 1/20 are ignored

// These functions round a value to the precision in which explanations show it, so that decisions use the shown values.
double in_thousandths(double value) { return static_cast<double>(to_milli(value)) / 1000.0; }
double in_millionths(double value) { return static_cast<double>(to_ppm(value)) / 1e6; }

/// Returns the upper tail of a normal distribution, accurate to 2 % up to three deviations.
double upper_tail(double deviations) {
  if (deviations < 0) return 1 - upper_tail(-deviations);
  const double x = std::min(deviations, 20.0);
  return 0.5 * portable_exp(-0.717 * x - 0.416 * x * x);
}

/// Returns the share of a replica's first tokens that were late. If the bound grows with the prompt, engines do not
/// count late first tokens. A request then counts as late if it waited longer than `Slo::max_queue_time()`, because
/// no shorter wait makes a prompt late. If no share is reported, assumes an exponential tail with the known 99th
/// percentile. `bound` is the TTFT bound of the mean prompt.
double late_share(const Load::ReplicaLoad& replica, const model::Slo& slo, Duration bound) {
  if (bound <= Duration{} || replica.ttft_p99_s <= 0) return 0;
  const double reported = slo.scales_with_prompt() ? replica.queue_late : replica.ttft_late;
  if (reported >= 0) return reported;
  return portable_exp(-4.605 * std::min(in_seconds(bound) / replica.ttft_p99_s, 100.0));
}

/// Returns the share of a replica's requests whose further tokens take longer than the bound: as counted by the engine,
/// else estimated from the replica's mean.
double slow_share(const Step& step, const Load::ReplicaLoad& replica, Duration bound) {
  if (bound <= Duration{}) return 0;
  if (replica.tpot_late >= 0) return replica.tpot_late;
  const double bound_s = in_seconds(bound);
  const double mean = replica.running / replica.generated_rate;
  const double deviation = token_deviation(step.variants[replica.variant].engine, step.shape, replica.running);
  return upper_tail((bound_s - mean) / std::max(deviation, 0.02 * bound_s));
}

/// Returns the estimated share of requests that miss their SLO, from the replicas' means, quantiles and shares. `slo`
/// has the TTFT bound of the mean prompt.
double missed_share(const Step& step, const model::Slo& slo) {
  double work = 0, missed = 0;
  for (const Load::ReplicaLoad& replica : step.load.replicas) {
    if (replica.generated_rate <= 0 || replica.running <= 0) continue;
    const double met = (1 - late_share(replica, step.role.slo, slo.ttft)) * (1 - slow_share(step, replica, slo.tpot));
    // The share is weighted by requests and not by tokens, because a replica with late first tokens generates few
    // tokens.
    work += replica.running;
    missed += replica.running * (1 - met);
  }
  return work > 0 ? missed / work : 0;
}

/// Returns true if at least as many replicas serve as the last decision needed, rounded down, and the waiting requests
/// are not more than the serving replicas. Returns false if a replica is silent.
bool as_planned(const Step& step) {
  if (step.memory.need_peaks.empty() || step.load.silent > 0) return false;
  const double needed = static_cast<double>(step.memory.need_peaks.back().milli) / 1000.0;
  const bool queued = step.load.waiting + step.load.gateway_queued > static_cast<double>(step.load.serving);
  return step.serving() >= std::floor(needed) && !queued;
}

}  // namespace

double Step::serving() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    sum += static_cast<double>(load.variants[i].serving) * variants[i].relative_capacity;
  }
  return sum;
}

double Step::counted() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Load::VariantLoad& seen = load.variants[i];
    const ReplicaCount coming = variants[i].denied ? seen.loading : seen.starting();
    sum += static_cast<double>(seen.serving + coming) * variants[i].relative_capacity;
  }
  return sum;
}

double Step::sequences_serving() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    sum += static_cast<double>(load.variants[i].serving) * static_cast<double>(variants[i].capacity.batch);
  }
  return sum;
}

double Step::queued() const { return std::max(load.in_flight() - sequences_serving(), 0.0); }

double Step::requests_per_s() const { return first_variant_capacity().tokens_per_s / shape.output; }

RequestCount Step::gateway_queued() const { return load.gateway_read ? to_whole(load.gateway_queued) : 0; }

double RequiredReplicas::margin() const {
  return total - static_cast<double>(to_milli(outlook.forecast) + to_milli(backlog)) / 1000.0;
}

double compute_need(Step& step) {
  RequiredReplicas& need = step.need;
  const auto [arriving, arrivals_noise] = learn_arrivals(step.load, step.shape, step.since_last, step.memory);
  // A replica divides its time between prompts and decode. Demand is the replica time that both need.
  const double prompts = arriving * step.first_variant_capacity().prompt_s;
  need.arriving_tokens_per_s = arriving;
  need.served = prompts + step.load.generated_rate * step.first_variant_capacity().decode_s;
  need.arriving = prompts + arriving / step.shape.prompt_per_output * step.first_variant_capacity().decode_s;
  need.queue_drains = is_queue_draining(step);
  need.demand = need.queue_drains ? need.arriving : std::max(need.served, need.arriving);
  need.in_flight = step.load.in_flight() / static_cast<double>(step.first_variant_capacity().batch);
  need.backlog = backlog(step, need.demand);
  // A prefill-only replica releases a prompt as soon as it is computed, so requests in flight understate its load.
  const bool prefills = step.role.role == model::Role::prefill;
  const double noise = prefills ? arrivals_noise : std::sqrt(1.0 / std::max(step.load.in_flight(), 1.0));
  const Duration horizon = step.lead + step.policy.sync_period;
  need.outlook = look_ahead(need.demand, noise, horizon, step.since_last, step.memory, step.now);
  need.total = need.outlook.needed + need.backlog;
  return need.total;
}

ReplicaCount whole_replicas(double replicas, double tolerated) {
  return std::max<ReplicaCount>(1, static_cast<ReplicaCount>(std::ceil(std::min(replicas, 1e6) - tolerated)));
}

NeedHistory need_history(Step& step, double needed) {
  NeedHistory history;
  history.round_trip = std::max<Duration>(kMinShortWindow, 2 * step.lead);
  history.longest = std::clamp<Duration>(6 * step.lead, kLongWindow, kMaxLongWindow);
  record_need(needed, kMaxLongWindow, step.memory, step.now);
  history.seen = step.now - step.memory.since;
  const double spread = 1 + in_millionths(step.need.outlook.forecast_error);
  history.round_trip_need = highest_need(step.memory, step.now - history.round_trip) * spread;
  history.longest_need = highest_need(step.memory, step.now - history.longest);
  return history;
}

ReplicaCount needed_now(const Step& step) {
  // The demand is the work being served. Arriving prompts are not used to predict output tokens, because the mean ratio
  // of the two is wrong after the mix of requests has changed. A conversion takes seconds, so it can wait until that
  // work is there.
  const double demand = in_thousandths(step.need.served);
  const double slack = in_millionths(step.need.outlook.slack);
  const Duration soon = std::max<Duration>(kQueueSoon, 4 * step.role.conversion);
  const double waits = step.queued() < 1 ? 0 : step.queued() / (step.requests_per_s() * in_seconds(soon));
  const ReplicaCount needed = whole_replicas(demand * (1 + slack) + waits + kImmediateMargin * demand);
  return step.load.silent > 0 ? std::max(needed, step.load.serving) : needed;
}

bool can_sleep(const Step& step) {
  const bool idle = step.load.idle() && step.load.silent == 0 && step.load.starting == 0;
  const bool min_is_zero =
      std::ranges::all_of(step.variants, [](const VariantStep& variant) { return variant.min == 0; });
  const Duration idle_time = step.now - step.memory.last_used;
  return idle && min_is_zero && step.load.gateway_read && idle_time >= sleeps_after(step.lead);
}

ReplicaCount warm_replicas(const Step& step) { return step.warm ? step.warm->replicas : 0; }

model::Reason warm_reason(const WarmSizing& warm) {
  return {model::ReasonCode::minimum_warm, {warm.requests_late, warm.wakes, warm.requests_allowed, warm.replicas}};
}

namespace {

/// Updates the engine model of each variant from its replicas' measurements. Also updates the KV memory in use, with
/// the KV memory of a first-variant replica as the unit.
void learn_engines(Step& step) {
  double kv_tokens = 0;
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& variant = step.variants[i];
    variant.role = i == 0 ? &step.role : &step.role.alternatives[i - 1];
    variant.engine = estimate_engine(variant.role->engine, variant_memory(step.memory, i).correction_ppm,
                                     step.role.role, variant.role->step_limits);
    kv_tokens += step.load.variants[i].kv_used * variant.engine.kv_tokens;
  }
  const EngineEstimate& first = step.variants.front().engine;
  if (step.variants.size() > 1) step.load.kv_used = kv_tokens / std::max(first.kv_tokens, 1.0);
  step.shape = learn_shape(step.load, first, step.since_last, step.memory);
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    learn_correction(step.load, i, step.shape, step.since_last, variant_memory(step.memory, i),
                     step.variants[i].engine);
  }
}

/// Computes the worth of each variant's replica from the time it needs for the same requests. A variant that misses the
/// SLO even if it serves only one request at a time has worth 0, unless all variants do.
void compute_worths(Step& step, const model::Slo& slo) {
  const auto time_s = [&](const Capacity& carries) {
    return step.shape.prompt_per_output * carries.prompt_s + carries.decode_s;
  };
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& variant = step.variants[i];
    variant.capacity = capacity(variant.engine, step.shape, step.load.variants[i], slo);
    if (i == 0) continue;
    const double worth = time_s(step.first_variant_capacity()) / std::max(time_s(variant.capacity), 1e-12);
    // Small changes are noise in the mean request and must not change the mix.
    std::int64_t& known = step.memory.alternatives[i - 1].worth_milli;
    const std::int64_t now = std::max<std::int64_t>(to_milli(std::min(worth, kMaxWorth)), 1);
    if (known == 0 || std::abs(now - known) * kWorthPrecision > known) known = now;
    variant.relative_capacity = static_cast<double>(known) / 1000.0;
  }
  const auto in_reach = [](const VariantStep& variant) { return !variant.capacity.out_of_reach; };
  if (std::ranges::none_of(step.variants, in_reach)) return;
  for (VariantStep& variant : step.variants)
    variant.relative_capacity = in_reach(variant) ? variant.relative_capacity : 0;
}

/// Excludes a variant of a mix from planning for a while if its purchases fail with capacity errors, if its replicas
/// wait too long for GPUs, or if it misses the SLO.
void update_denials(Step& step) {
  if (step.variants.size() == 1) return;
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    const Load::VariantLoad& seen = step.load.variants[i];
    const Supply& supply = i == 0 ? step.role.supply : step.role.alternatives[i - 1].supply;
    Instant& until = variant_memory(step.memory, i).denied_until;
    if (seen.pending > 0 && (supply.refused || seen.without_gpus >= kGpuTimeout)) until = step.now + kDeniedFor;
    // A variant that misses the SLO is excluded for the same time. Otherwise a variant close to its bound could enter
    // and leave the plan with every decision.
    if (step.variants[i].relative_capacity == 0) until = step.now + kDeniedFor;
    step.variants[i].denied = supply.refused || step.now < until;
  }
}

/// Returns the minimum replicas of a variant, looking ahead by one cold start so that a scheduled floor is met when its
/// window opens. Until a start has been measured, assumes a pessimistic one. Replicas that already run are kept if the
/// window opens within one stop-and-start round trip.
ReplicaCount minimum_ahead(const VariantStep& variant, const Step& step) {
  const WorkloadView& role = *variant.role;
  if (role.windows == nullptr || role.windows->empty()) return role.min;
  const auto within = [&](Duration ahead) {
    return model::bounds_at({role.min, role.max}, *role.windows, step.now, ahead + step.policy.sync_period).min;
  };
  const Duration lead = variant.lead.typical;
  const Duration start = variant.lead.is_known ? lead : std::max<Duration>(lead, kAssumedStart);
  const Duration round_trip = std::max<Duration>(2 * lead, kAssumedStart);
  return std::max(within(start), std::min(role.current, within(round_trip)));
}

/// Uses the slowest variant's lead time: the plan is complete only when the last replica serves. Alternatives that are
/// denied do not count, and a known lead time takes precedence over an assumed one.
void update_leads(Step& step) {
  Lead longest;
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& variant = step.variants[i];
    variant.lead = lead_time(step.role, i, variant_memory(step.memory, i).leads, step.now);
    variant.min = minimum_ahead(variant, step);
    const bool counts = !variant.denied && (variant.lead.is_known || !longest.is_known);
    if (i == 0 || (counts && (variant.lead.time > longest.time || !longest.is_known))) longest = variant.lead;
  }
  step.lead = longest.time;
  step.lead_known = longest.is_known;
}

/// Returns the share of requests that must meet the SLO.
double target_of(const Step& step) {
  const std::int64_t stated = step.policy.attainment_ppm;
  return static_cast<double>(stated > 0 ? stated : step.role.slo.attainment_ppm) / 1e6;
}

void record_wakes(Step& step, Duration late) {
  // Requests are derived from token counters, because request counters differ between engines. An error of the mean
  // prompt does not matter: it changes the late requests and all requests by the same factor.
  const Capacity& carries = step.first_variant_capacity();
  const double request_s = step.shape.prompt * carries.prompt_s + step.shape.output * carries.decode_s;
  record_arrivals({.requests = step.load.prompt_tokens / step.shape.prompt,
                   .queued = step.load.waiting + step.load.gateway_queued,
                   .request_s = request_s * (1 + safety_margin(step.memory, step.lead)),
                   .late_for = late,
                   .sleeps_after = sleeps_after(step.lead)},
                  step.memory, step.now);
}

/// Computes from past wakes how many replicas stay warm: while there is no load, and at the start of load until a cold
/// start would be over. Even for a decode role, the SLO of the whole service counts, because a cold start of a decode
/// replica also delays first tokens.
void update_wakes(Step& step) {
  const model::Slo slo = slo_for_mean_prompt(step.role.slo, step.variants.front().engine, step.shape);
  const Duration late = late_for(slo, step.lead);
  if (!step.load.idle()) {
    record_wakes(step, late);
    if (step.now - step.memory.episodes.back().began > late) return;
  }
  if (step.policy.to_zero == Capstan::ScaleToZero::after_idle) return;
  step.warm = minimum_warm(step.memory, target_of(step), late, step.now);
}

/// Estimates the share of requests that miss the SLO, and adjusts the safety margins by it.
void update_misses(Step& step, const model::Slo& slo) {
  step.missed_share = missed_share(step, slo);
  if (step.load.idle()) return;
  const double target = target_of(step);
  const double busy = step.load.prompt_rate * step.first_variant_capacity().prompt_s +
                      step.load.generated_rate * step.first_variant_capacity().decode_s;
  const double use = busy / std::max(step.serving(), 1.0);
  // If no engine reports first tokens, the absence of late ones proves nothing.
  const bool is_conclusive = slo.ttft <= Duration{} || !step.load.ttft_unknown() || step.missed_share > 1 - target;
  if (is_conclusive)
    adjust_safety_margins({step.missed_share, use, target, as_planned(step), step.since_last}, step.memory);
  step.memory.last_used = step.now;
}

}  // namespace

Step observe(const WorkloadView& role, const Capstan& policy, CapstanMemory& memory, Instant now) {
  const Duration since_last = std::clamp(now - memory.at, Duration{}, kMaxGap);
  Step step{role, policy, memory, now, since_last, read_load(role, memory, now), {}, {}};
  step.variants.resize(step.load.variants.size());
  learn_engines(step);
  const model::Slo slo = slo_for_mean_prompt(role_slo(role.slo, role.role), step.variants.front().engine, step.shape);
  compute_worths(step, slo);
  update_denials(step);
  update_leads(step);
  update_wakes(step);
  update_misses(step, slo);
  memory.at = now;
  return step;
}

}  // namespace capstan::decide::scale
