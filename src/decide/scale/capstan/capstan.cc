#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/forecast.h"
#include "decide/scale/capstan/load.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;
using std::chrono::minutes;

constexpr Duration kArrivalMemory = std::chrono::seconds(45);
constexpr Duration kGapMost = minutes(2);           // between two decisions; a longer one teaches no more
constexpr Duration kShortWindowLeast = minutes(1);  // what one scrape more may show
constexpr Duration kLongWindow = minutes(20);
constexpr Duration kLongWindowMost = minutes(60);
constexpr Duration kIdleLeast = minutes(10);
constexpr double kTolerated = 0.05;        // of a replica, above a whole number
constexpr double kMarginTolerated = 0.25;  // of what is kept in hand may be used up before one more is asked for
constexpr double kClearly = 0.5;           // of a replica, so much less than a whole one goes after the short window
constexpr double kArrivalsJump = 1.25;     // over the smoothed rate, beyond what counting explains
constexpr double kLengthVariation = 2.0;   // 1 + squared deviation over squared mean of prompts
constexpr double kScrapeS = 15;
constexpr double kBillion = 1e9;

std::int64_t rounded(double value) { return static_cast<std::int64_t>(std::clamp(value, -kBillion, kBillion)); }
std::int64_t milli(double value) { return rounded(value * 1000.0); }

/// Relative deviation of what arrives between two scrapes that counting alone explains.
double arrivals_noise(double tokens_per_s, const Shape& shape) {
  return std::sqrt(kLengthVariation / std::max(tokens_per_s / shape.prompt * kScrapeS, 1.0));
}

/// Prompt tokens a second that arrive, those that join a queue included. Smoothed over what one prompt more or less
/// makes, except where they jump.
double learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory) {
  const double raw = std::max(0.0, load.prompt_rate + load.queue_rate * shape.prompt);
  double mean = static_cast<double>(memory.arrivals_milli) / 1000.0;
  const double noise = arrivals_noise(raw, shape);
  const double part = in_seconds(since_last) / (in_seconds(kArrivalMemory) + in_seconds(since_last));
  mean = mean <= 0 || raw > mean * (kArrivalsJump + 4 * noise) ? raw : mean + part * (raw - mean);
  memory.arrivals_milli = static_cast<std::int64_t>(std::min(mean, 1e12) * 1000.0);
  return mean;
}

/// The upper tail of a normal distribution, within 2 % of itself up to three deviations.
double upper_tail(double deviations) {
  if (deviations < 0) return 1 - upper_tail(-deviations);
  const double x = std::min(deviations, 20.0);
  return 0.5 * portable_exp(-0.717 * x - 0.416 * x * x);
}

/// Share of the work that misses its SLO, as far as the replicas' means and quantiles tell.
double missed_share(const Load& load, const EngineBelief& engine, const Shape& shape, const model::Slo& slo) {
  double work = 0, missed = 0;
  for (const Load::Each& each : load.each) {
    if (each.generated_rate <= 0 || each.running <= 0) continue;
    double met = 1;
    if (slo.ttft > Duration{} && each.ttft_p99_s > 0) {
      // Of an exponential tail whose 99th percentile is known.
      met *= 1 - portable_exp(-4.605 * std::min(in_seconds(slo.ttft) / each.ttft_p99_s, 100.0));
    }
    if (slo.tpot > Duration{}) {
      const double bound = in_seconds(slo.tpot);
      const double mean = each.running / each.generated_rate;
      met *= 1 - upper_tail((bound - mean) / std::max(token_deviation(engine, shape, each.running), 0.02 * bound));
    }
    work += each.generated_rate;
    missed += each.generated_rate * (1 - met);
  }
  return work > 0 ? missed / work : 0;
}

/// Everything that one decision works with.
struct Step {
  const RoleView& role;
  const Capstan& policy;
  CapstanMemory& memory;
  Instant now;
  Duration since_last;
  Load load;
  Shape shape;
  Capacity carries;
  Sizing sizing;
  bool lead_known = false;
};

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

void tell_capacity(Step& step, const EngineBelief& engine) {
  Sizing& s = step.sizing;
  s.role = step.role.role;
  s.prompt = rounded(step.shape.prompt);
  s.output = rounded(step.shape.output);
  s.context = rounded(step.shape.context);
  s.modelled = engine.modelled;
  s.correction_ppm = rounded(engine.correction * 1e6);
  s.batch = step.carries.batch;
  s.token_us = rounded(step.carries.token_s * 1e6);
  s.tokens_per_s = rounded(step.carries.tokens_per_s);
  s.bound = step.carries.bound;
  s.out_of_reach = step.carries.out_of_reach;
}

/// Replicas for what is in flight beyond what those that serve hold, where those that are counted would not have worked
/// it off before a new one is ready.
double backlog(Step& step, double demand) {
  const double queued =
      step.load.in_flight() - static_cast<double>(step.load.serving) * static_cast<double>(step.carries.batch);
  if (queued < 1) return 0;
  const double served_per_s = step.carries.tokens_per_s / step.shape.output;  // requests, by one replica
  const double spare = static_cast<double>(step.load.serving + step.load.starting) - demand;
  const double lead_s = std::max(in_seconds(step.sizing.lead), 1.0);
  const double drains_s = spare > 0 ? queued / (spare * served_per_s) : kBillion;
  step.sizing.backlog_drains = std::chrono::milliseconds(rounded(std::min(drains_s, 86'400.0) * 1000.0));
  if (drains_s <= lead_s) return 0;
  return queued / (served_per_s * std::max(lead_s, 60.0));
}

/// Demand in replicas, and what to be ready for.
double size(Step& step) {
  Sizing& s = step.sizing;
  const double arriving = learn_arrivals(step.load, step.shape, step.since_last, step.memory);
  // A replica's time goes to prompts and to decoding: how much of each is asked for, and how many replicas' time that
  // is.
  const double prompts = arriving * step.carries.prompt_s;
  const double served = prompts + step.load.generated_rate * step.carries.decode_s;
  const double coming = prompts + arriving / step.shape.prompt_per_output * step.carries.decode_s;
  const double demand = std::max(served, coming);
  const double in_flight = step.load.in_flight() / static_cast<double>(step.carries.batch);
  const double waits = backlog(step, demand);
  // Prompts leave as soon as they are computed: of who does nothing else, what is in flight counts too few.
  const bool prefills = step.role.role == model::Role::prefill;
  const double noise =
      prefills ? arrivals_noise(arriving, step.shape) : std::sqrt(1.0 / std::max(step.load.in_flight(), 1.0));
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
  const double needed = outlook.needed + waits;
  s.needed_milli = milli(needed);
  return needed;
}

/// A whole number of replicas.
ReplicaCount whole(double replicas, double tolerated = kTolerated) {
  return std::max<ReplicaCount>(1, static_cast<ReplicaCount>(std::ceil(std::min(replicas, 1e6) - tolerated)));
}

/// How many to ask for where more are needed: a part of what is kept in hand may be used up first.
ReplicaCount raised(const Sizing& s, double needed) {
  const double in_hand = needed - static_cast<double>(s.forecast_milli + s.backlog_milli) / 1000.0;
  return whole(needed, std::clamp(kMarginTolerated * in_hand, kTolerated, kClearly));
}

/// How many fewer would have sufficed for as long as stopping one and starting it again costs. What lies beyond the
/// spread of demand may go after the short window, the rest only after the long one.
ReplicaCount hold(Step& step, double needed) {
  const Duration round_trip = std::max<Duration>(kShortWindowLeast, 2 * step.sizing.lead);
  const Duration longest = std::clamp<Duration>(6 * step.sizing.lead, kLongWindow, kLongWindowMost);
  note_need(needed, kLongWindowMost, step.memory, step.now);
  const Duration seen = step.now - step.memory.since;
  const double spread = 1 + static_cast<double>(step.sizing.spread_ppm) / 1e6;
  const ReplicaCount soon = whole(most_needed(step.memory, step.now - round_trip) * spread + kClearly);
  const ReplicaCount late = whole(most_needed(step.memory, step.now - longest));
  // Before the first start nobody knows what a stop would cost.
  const bool by_short = step.lead_known && soon <= late;
  const Duration window = by_short ? round_trip : longest;
  step.sizing.window = window;
  step.sizing.window_milli = milli(most_needed(step.memory, step.now - window));
  if (seen < (step.lead_known ? round_trip : longest)) return step.role.current;
  if (!step.lead_known) return late;
  return seen < longest ? soon : std::min(soon, late);
}

model::Reason reason(const Step& step, const Decision& decision, ReplicaCount asked) {
  const Sizing& s = step.sizing;
  if (decision.desired != asked) {
    return asked > decision.desired ? model::Reason{ReasonCode::at_maximum, {asked, step.role.max}}
                                    : model::Reason{ReasonCode::at_minimum, {asked, step.role.min}};
  }
  if (decision.desired > decision.current) {
    return {ReasonCode::demand_rising, {s.demand_milli, s.needed_milli, whole_seconds(s.lead), decision.desired}};
  }
  if (decision.desired < decision.current) {
    return {ReasonCode::demand_falling, {s.window_milli, whole_seconds(s.window), decision.desired, decision.counted}};
  }
  if (decision.wanted < decision.desired) {
    return {ReasonCode::surplus_kept, {decision.wanted, s.window_milli, whole_seconds(s.window)}};
  }
  if (s.waiting + s.held > 0 && s.backlog_drains > Duration{} && s.backlog_drains <= s.lead) {
    return {ReasonCode::backlog_drains, {s.waiting + s.held, whole_seconds(s.backlog_drains), whole_seconds(s.lead)}};
  }
  return {ReasonCode::demand_met, {s.demand_milli, s.needed_milli, decision.desired}};
}

/// Nothing serves: only the gateway knows what is asked for.
Decision wake(Decision decision, Step& step) {
  const RequestCount held = step.load.gateway_read ? rounded(step.load.held) : 0;
  ReplicaCount asked = std::max(decision.current, step.role.min);
  decision.why = {ReasonCode::demand_unknown, {asked}};
  if (held > 0) {
    asked = std::max(asked, whole(static_cast<double>(held) / static_cast<double>(step.carries.batch)));
    decision.why = {ReasonCode::wake_for_waiting, {held, asked}};
  }
  decision.wanted = decision.held_to = asked;
  decision.desired = std::clamp(asked, step.role.min, step.role.max);
  decision.sizing = step.sizing;
  return finish(std::move(decision), step.role);
}

/// To none only where none is allowed, and a gateway that is heard holds what comes.
bool may_sleep(const Step& step) {
  const Duration idle = step.now - step.memory.last_used;
  const bool nobody = step.load.idle() && step.load.silent == 0 && step.load.starting == 0;
  return nobody && step.role.min == 0 && step.load.gateway_read &&
         idle >= std::max<Duration>(kIdleLeast, 4 * step.sizing.lead);
}

Step observe(const RoleView& role, const Capstan& policy, CapstanMemory& memory, Instant now) {
  const Duration since_last = std::clamp(now - memory.at, Duration{}, kGapMost);
  Step step{role, policy, memory, now, since_last, read_load(role, memory, now), {}, {}, {}, false};
  EngineBelief engine = believe(role.engine, memory.correction_ppm, role.role);
  step.shape = learn_shape(step.load, engine, since_last, memory);
  learn_correction(step.load, step.shape, since_last, memory, engine);
  const model::Slo slo = of_mean_prompt(share_of(role.slo, role.role), engine, step.shape);
  step.carries = capacity(engine, step.shape, step.load, slo);
  const Lead lead = lead_time(role, memory, now);
  step.sizing.lead = lead.time;
  step.lead_known = lead.known;
  const double target =
      static_cast<double>(policy.attainment_ppm > 0 ? policy.attainment_ppm : role.slo.attainment_ppm) / 1e6;
  const double missed = missed_share(step.load, engine, step.shape, slo);
  step.sizing.missed_ppm = rounded(missed * 1e6);
  if (!step.load.idle()) {
    const double busy =
        step.load.prompt_rate * step.carries.prompt_s + step.load.generated_rate * step.carries.decode_s;
    const double use = busy / std::max(static_cast<double>(step.load.serving), 1.0);
    // Where nobody tells of first tokens, that none is known to be late is no proof.
    const bool proved = slo.ttft <= Duration{} || !step.load.ttft_unknown() || missed > 1 - target;
    if (proved) spend_budget(missed, use, target, since_last, memory);
    memory.last_used = now;
  }
  tell_load(step);
  tell_capacity(step, engine);
  memory.at = now;
  return step;
}

}  // namespace

std::vector<model::SignalField> needs_of(const Capstan&) { return load_signals(); }

Duration period_of(const Capstan& policy) { return policy.sync_period; }

Decision decide_by(const Capstan& policy, Decision decision, const RoleView& role, Memory& memory, Instant now) {
  Step step = observe(role, policy, load_memory(memory, now), now);
  if (step.load.serving == 0) return wake(std::move(decision), step);
  const double needed = size(step);
  decision.wanted = raised(step.sizing, needed);
  const ReplicaCount in_flight = whole(step.load.in_flight() / static_cast<double>(step.carries.batch));
  const ReplicaCount floor = std::max(hold(step, needed), std::min(in_flight, decision.current));
  decision.held_to = std::max(decision.wanted, std::min(floor, decision.current));
  if (step.load.silent > 0) decision.held_to = std::max(decision.held_to, decision.current);
  ReplicaCount asked = decision.held_to;
  const bool sleeps = may_sleep(step);
  if (sleeps) asked = decision.wanted = decision.held_to = 0;
  decision.desired = std::clamp(asked, role.min, role.max);
  decision.sizing = step.sizing;
  decision.why = reason(step, decision, asked);
  if (sleeps && decision.desired == 0) {
    decision.why = {ReasonCode::no_demand, {whole_seconds(now - step.memory.last_used)}};
  } else if (step.load.silent > 0 && decision.desired == decision.current && decision.wanted < decision.current) {
    decision.why = {ReasonCode::signal_missing, {step.load.silent, step.load.asked}};
  }
  return finish(std::move(decision), role);
}

}  // namespace capstan::decide::scale
