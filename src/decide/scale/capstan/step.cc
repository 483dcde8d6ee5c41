#include "decide/scale/capstan/step.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/portable_math.h"
#include "decide/scale/capstan/arrivals.h"
#include "decide/scale/capstan/backlog.h"
#include "decide/scale/capstan/budget.h"
#include "decide/scale/capstan/forecast.h"
#include "decide/scale/capstan/wakes.h"

namespace capstan::decide::scale {
namespace {

using std::chrono::minutes;

constexpr Duration kAheadUnknown = minutes(10);     // a start, as long as none was seen
constexpr Duration kGapMost = minutes(2);           // between two decisions; a longer one teaches no more
constexpr Duration kShortWindowLeast = minutes(1);  // what one scrape more may show
constexpr Duration kLongWindow = minutes(20);
constexpr Duration kLongWindowMost = minutes(60);
constexpr Duration kQueueSoon = std::chrono::seconds(15);  // one scrape
constexpr double kNowInHand = 0.1;            // of demand, beside the slack, where replicas come out of another role
constexpr Duration kPatience = minutes(5);    // with a replica that has no GPUs
constexpr Duration kDeniedFor = minutes(10);  // GPUs that could not be had are not counted on for so long
constexpr double kWorthMost = 1e3;            // of a replica, in replicas of the first variant
constexpr std::int64_t kWorthParts = 20;      // a change by less than one of so many parts is none
constexpr double kBillion = 1e9;

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::clamp(value, -kBillion, kBillion)); }
std::int64_t milli(double value) { return rounded(value * 1000.0); }

/// The upper tail of a normal distribution, within 2 % of itself up to three deviations.
double upper_tail(double deviations) {
  if (deviations < 0) return 1 - upper_tail(-deviations);
  const double x = std::min(deviations, 20.0);
  return 0.5 * portable_exp(-0.717 * x - 0.416 * x * x);
}

/// Share of a replica's first tokens that were late. Where the bound grows with the prompt, nobody counts them: taken
/// for late is who waited for longer than `Slo::queue_time`, up to which none is late whatever it brought. Where no
/// share is told, of an exponential tail whose 99th percentile is known; `bound` is the mean prompt's.
double late_share(const Load::Each& each, const model::Slo& slo, Duration bound) {
  if (bound <= Duration{} || each.ttft_p99_s <= 0) return 0;
  const double told = slo.scales_with_prompt() ? each.queue_late : each.ttft_late;
  if (told >= 0) return told;
  return portable_exp(-4.605 * std::min(in_seconds(bound) / each.ttft_p99_s, 100.0));
}

/// Share of a replica's requests whose further tokens take longer than the bound: counted of those that ended, where
/// the engine tells it; else the tail beyond it of what its mean says.
double slow_share(const Step& step, const Load::Each& each, Duration bound) {
  if (bound <= Duration{}) return 0;
  if (each.tpot_late >= 0) return each.tpot_late;
  const double bound_s = in_seconds(bound);
  const double mean = each.running / each.generated_rate;
  const double deviation = token_deviation(step.variants[each.variant].engine, step.shape, each.running);
  return upper_tail((bound_s - mean) / std::max(deviation, 0.02 * bound_s));
}

/// Share of the requests that miss their SLO, as far as the replicas' means, quantiles and shares tell. `slo` has the
/// bound on the mean prompt's TTFT.
double missed_share(const Step& step, const model::Slo& slo) {
  double work = 0, missed = 0;
  for (const Load::Each& each : step.load.each) {
    if (each.generated_rate <= 0 || each.running <= 0) continue;
    const double met = (1 - late_share(each, step.role.slo, slo.ttft)) * (1 - slow_share(step, each, slo.tpot));
    // By requests, not by tokens: a replica that is late with first tokens makes few of them.
    work += each.running;
    missed += each.running * (1 - met);
  }
  return work > 0 ? missed / work : 0;
}

/// As many serve as the last decision said to be needed, but for a part of one, and no queue is worked off.
bool as_planned(const Step& step) {
  if (step.memory.needs.empty() || step.load.silent > 0) return false;
  const double needed = static_cast<double>(step.memory.needs.back().milli) / 1000.0;
  const bool queued = step.load.waiting + step.load.held > static_cast<double>(step.load.serving);
  return step.serving() >= std::floor(needed) && !queued;
}

void tell_load(Step& step) {
  Sizing& s = step.sizing;
  s.running = rounded(step.load.running);
  s.waiting = rounded(step.load.waiting);
  s.held = rounded(step.load.held);
  s.prompt_tokens_per_s = rounded(step.load.prompt_rate);
  s.generated_tokens_per_s = rounded(step.load.generated_rate);
  s.serving = step.load.serving;
  s.starting = step.load.starting;
  s.silent = step.load.silent;
}

void tell_capacity(Step& step) {
  Sizing& s = step.sizing;
  const EngineBelief& engine = step.variants.front().engine;
  const Capacity& carries = step.unit();
  s.role = step.role.role;
  s.prompt = rounded(step.shape.prompt);
  s.output = rounded(step.shape.output);
  s.context = rounded(step.shape.context);
  s.modelled = engine.modelled;
  s.correction_ppm = rounded(engine.correction * 1e6);
  s.batch = carries.batch;
  s.token_us = rounded(carries.token_s * 1e6);
  s.tokens_per_s = rounded(carries.tokens_per_s);
  s.bound = carries.bound;
  s.out_of_reach = carries.out_of_reach;
}

}  // namespace

double Step::serving() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    sum += static_cast<double>(load.variants[i].serving) * variants[i].worth;
  }
  return sum;
}

double Step::counted() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Load::OfVariant& seen = load.variants[i];
    const ReplicaCount coming = variants[i].denied ? seen.loading : seen.starting();
    sum += static_cast<double>(seen.serving + coming) * variants[i].worth;
  }
  return sum;
}

double Step::sequences_serving() const {
  double sum = 0;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    sum += static_cast<double>(load.variants[i].serving) * static_cast<double>(variants[i].carries.batch);
  }
  return sum;
}

double Step::queued() const { return std::max(load.in_flight() - sequences_serving(), 0.0); }

double Step::requests_per_s() const { return unit().tokens_per_s / shape.output; }

double size(Step& step) {
  Sizing& s = step.sizing;
  const auto [arriving, arrivals_noise] = learn_arrivals(step.load, step.shape, step.since_last, step.memory);
  // A replica's time goes to prompts and to decoding: how much of each is asked for, and how many replicas' time that
  // is.
  const double prompts = arriving * step.unit().prompt_s;
  const double served = prompts + step.load.generated_rate * step.unit().decode_s;
  const double coming = prompts + arriving / step.shape.prompt_per_output * step.unit().decode_s;
  s.works_off = works_off(step);
  const double demand = s.works_off ? coming : std::max(served, coming);
  const double in_flight = step.load.in_flight() / static_cast<double>(step.unit().batch);
  const double waits = backlog(step, demand);
  // Prompts leave as soon as they are computed: of who does nothing else, what is in flight counts too few.
  const bool prefills = step.role.role == model::Role::prefill;
  const double noise = prefills ? arrivals_noise : std::sqrt(1.0 / std::max(step.load.in_flight(), 1.0));
  const Duration horizon = s.lead + step.policy.sync_period;
  const Outlook outlook = look_ahead(demand, noise, horizon, step.since_last, step.memory, step.now);
  s.arriving_tokens_per_s = rounded(arriving);
  s.served_milli = milli(served);
  s.arriving_milli = milli(coming);
  s.demand_milli = milli(demand);
  s.in_flight_milli = milli(in_flight);
  s.backlog_milli = milli(waits);
  s.forecast_milli = milli(outlook.forecast);
  s.spread_ppm = rounded(outlook.spread * 1e6);
  s.safety_milli = milli(outlook.safety);
  s.slack_ppm = rounded(outlook.slack * 1e6);
  const double needed = outlook.needed + waits;
  s.needed_milli = milli(needed);
  return needed;
}

ReplicaCount whole(double replicas, double tolerated) {
  return std::max<ReplicaCount>(1, static_cast<ReplicaCount>(std::ceil(std::min(replicas, 1e6) - tolerated)));
}

LookBack look_back(Step& step, double needed) {
  LookBack back;
  back.round_trip = std::max<Duration>(kShortWindowLeast, 2 * step.sizing.lead);
  back.longest = std::clamp<Duration>(6 * step.sizing.lead, kLongWindow, kLongWindowMost);
  note_need(needed, kLongWindowMost, step.memory, step.now);
  back.seen = step.now - step.memory.since;
  const double spread = 1 + static_cast<double>(step.sizing.spread_ppm) / 1e6;
  back.soon = most_needed(step.memory, step.now - back.round_trip) * spread;
  back.late = most_needed(step.memory, step.now - back.longest);
  return back;
}

void tell_window(Step& step, Duration window) {
  step.sizing.window = window;
  step.sizing.window_milli = milli(most_needed(step.memory, step.now - window));
}

ReplicaCount needed_now(const Step& step) {
  // What is going to arrive is fetched when it arrives: what prompts of one kind make of answers says little of
  // another.
  const double demand = static_cast<double>(step.sizing.served_milli) / 1000.0;
  const double slack = static_cast<double>(step.sizing.slack_ppm) / 1e6;
  const Duration soon = std::max<Duration>(kQueueSoon, 4 * step.role.conversion);
  const double waits = step.queued() < 1 ? 0 : step.queued() / (step.requests_per_s() * in_seconds(soon));
  const ReplicaCount needed = whole(demand * (1 + slack) + waits + kNowInHand * demand);
  return step.load.silent > 0 ? std::max(needed, step.load.serving) : needed;
}

bool could_sleep(const Step& step) {
  const bool nobody = step.load.idle() && step.load.silent == 0 && step.load.starting == 0;
  const bool none_asked = std::ranges::all_of(step.variants, [](const VariantStep& each) { return each.min == 0; });
  const Duration idle = step.now - step.memory.last_used;
  return nobody && none_asked && step.load.gateway_read && idle >= sleeps_after(step.sizing.lead);
}

ReplicaCount kept_warm(const Step& step) { return step.sizing.warm ? step.sizing.warm->replicas : 0; }

model::Reason too_late(const WarmSizing& warm) {
  return {model::ReasonCode::minimum_warm, {warm.requests_late, warm.wakes, warm.requests_allowed, warm.replicas}};
}

namespace {

/// What each variant's engine does, by what its replicas deliver; and how many KV tokens all of them hold, in memories
/// of the first.
void learn_engines(Step& step) {
  double kv_tokens = 0;
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& each = step.variants[i];
    each.role = i == 0 ? &step.role : &step.role.beside[i - 1];
    each.engine =
        believe(each.role->engine, learned(step.memory, i).correction_ppm, step.role.role, each.role->step_limits);
    kv_tokens += step.load.variants[i].kv_used * each.engine.kv_tokens;
  }
  const EngineBelief& first = step.variants.front().engine;
  if (step.variants.size() > 1) step.load.kv_used = kv_tokens / std::max(first.kv_tokens, 1.0);
  step.shape = learn_shape(step.load, first, step.since_last, step.memory);
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    learn_correction(step.load, i, step.shape, step.since_last, learned(step.memory, i), step.variants[i].engine);
  }
}

/// What a replica of each carries, in replicas of the first: by the time that each needs for the same requests. One
/// that misses the SLO with a single request carries nothing, unless they all do.
void weigh_variants(Step& step, const model::Slo& slo) {
  const auto time_s = [&](const Capacity& carries) {
    return step.shape.prompt_per_output * carries.prompt_s + carries.decode_s;
  };
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& each = step.variants[i];
    each.carries = capacity(each.engine, step.shape, step.load.variants[i], slo);
    if (i == 0) continue;
    const double worth = time_s(step.unit()) / std::max(time_s(each.carries), 1e-12);
    // A little more or less is noise of what requests are; a mix is not changed for it.
    std::int64_t& known = step.memory.beside[i - 1].worth_milli;
    const std::int64_t now = std::max<std::int64_t>(milli(std::min(worth, kWorthMost)), 1);
    if (known == 0 || std::abs(now - known) * kWorthParts > known) known = now;
    each.worth = static_cast<double>(known) / 1000.0;
  }
  const auto in_reach = [](const VariantStep& each) { return !each.carries.out_of_reach; };
  if (std::ranges::none_of(step.variants, in_reach)) return;
  for (VariantStep& each : step.variants) each.worth = in_reach(each) ? each.worth : 0;
}

/// A variant whose GPUs came back with capacity errors, or whose replicas wait in vain, is not counted on for a while.
void follow_denials(Step& step) {
  if (step.variants.size() == 1) return;
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    const Load::OfVariant& seen = step.load.variants[i];
    const Supply& supply = i == 0 ? step.role.supply : step.role.beside[i - 1].supply;
    Instant& until = learned(step.memory, i).denied_until;
    if (seen.pending > 0 && (supply.refused || seen.waits >= kPatience)) until = step.now + kDeniedFor;
    // One that misses the SLO may be in reach again at once, and out of it at the next look.
    if (step.variants[i].worth == 0) until = step.now + kDeniedFor;
    step.variants[i].denied = supply.refused || step.now < until;
  }
}

/// The least of a variant: what a window that begins soon asks for has to start now. As long as no start was seen, more
/// than one is expected to take: to be late for what is in the calendar would be a shame. Who is there already is not
/// stopped for the time that a stop and a start take.
ReplicaCount least_of(const VariantStep& variant, const Step& step) {
  const RoleView& role = *variant.role;
  if (role.windows == nullptr || role.windows->empty()) return role.min;
  const auto within = [&](Duration ahead) {
    return model::bounds_at({role.min, role.max}, *role.windows, step.now, ahead + step.policy.sync_period).min;
  };
  const Duration lead = variant.lead.usual;
  const Duration start = variant.lead.known ? lead : std::max<Duration>(lead, kAheadUnknown);
  const Duration round_trip = std::max<Duration>(2 * lead, kAheadUnknown);
  return std::max(within(start), std::min(role.current, within(round_trip)));
}

/// The longest of those that count: who starts first waits for nobody, but what is planned is there with the last.
void follow_leads(Step& step) {
  Lead longest;
  for (std::uint32_t i = 0; i < step.variants.size(); ++i) {
    VariantStep& each = step.variants[i];
    each.lead = lead_time(step.role, i, learned(step.memory, i).leads, step.now);
    each.min = least_of(each, step);
    const bool counts = !each.denied && (each.lead.known || !longest.known);
    if (i == 0 || (counts && (each.lead.time > longest.time || !longest.known))) longest = each.lead;
  }
  step.sizing.lead = longest.time;
  step.lead_known = longest.known;
}

/// The share of the requests to be met.
double target_of(const Step& step) {
  const std::int64_t stated = step.policy.attainment_ppm;
  return static_cast<double>(stated > 0 ? stated : step.role.slo.attainment_ppm) / 1e6;
}

void note_wakes(Step& step, Duration late) {
  // No engine's counters of requests agree, those of tokens do; and where the mean prompt is mistaken, it is so for
  // those that are late and for all of them.
  const Capacity& carries = step.unit();
  const double request_s = step.shape.prompt * carries.prompt_s + step.shape.output * carries.decode_s;
  note_came({.requests = step.load.prompt_tokens / step.shape.prompt,
             .queued = step.load.waiting + step.load.held,
             .request_s = request_s * (1 + kept_in_hand(step.memory, step.sizing.lead)),
             .late_for = late,
             .sleeps_after = sleeps_after(step.sizing.lead)},
            step.memory, step.now);
}

/// What wakes would have made late, and what has to stay for it: while nothing comes, and until a start for what comes
/// would be over. Whoever decodes holds first tokens up as well: the whole service's bounds count.
void follow_wakes(Step& step) {
  const model::Slo slo = of_mean_prompt(step.role.slo, step.variants.front().engine, step.shape);
  const Duration late = late_for(slo, step.sizing.lead);
  if (!step.load.idle()) {
    note_wakes(step, late);
    if (step.now - step.memory.episodes.back().began > late) return;
  }
  if (step.policy.to_zero == Capstan::ToZero::after_idle) return;
  step.sizing.warm = minimum_warm(step.memory, target_of(step), late, step.now);
}

/// The budget of misses, from what is seen of them.
void follow_misses(Step& step, const model::Slo& slo) {
  const double missed = missed_share(step, slo);
  step.sizing.missed_ppm = rounded(missed * 1e6);
  if (step.load.idle()) return;
  const double target = target_of(step);
  const double busy = step.load.prompt_rate * step.unit().prompt_s + step.load.generated_rate * step.unit().decode_s;
  const double use = busy / std::max(step.serving(), 1.0);
  // Where nobody tells of first tokens, that none is known to be late is no proof.
  const bool proved = slo.ttft <= Duration{} || !step.load.ttft_unknown() || missed > 1 - target;
  if (proved) spend_budget({missed, use, target, as_planned(step), step.since_last}, step.memory);
  step.memory.last_used = step.now;
}

}  // namespace

Step observe(const RoleView& role, const Capstan& policy, CapstanMemory& memory, Instant now) {
  const Duration since_last = std::clamp(now - memory.at, Duration{}, kGapMost);
  Step step{role, policy, memory, now, since_last, read_load(role, memory, now), {}, {}, {}, false};
  step.variants.resize(step.load.variants.size());
  learn_engines(step);
  const model::Slo slo = of_mean_prompt(share_of(role.slo, role.role), step.variants.front().engine, step.shape);
  weigh_variants(step, slo);
  follow_denials(step);
  follow_leads(step);
  follow_wakes(step);
  follow_misses(step, slo);
  tell_load(step);
  tell_capacity(step);
  memory.at = now;
  return step;
}

}  // namespace capstan::decide::scale
