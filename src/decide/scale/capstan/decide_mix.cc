#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/mix.h"
#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

constexpr Duration kMinHorizon = std::chrono::hours(1);
constexpr std::int64_t kMaxPrice = 1'000'000'000'000;

/// Returns true if all prices are known in USD; otherwise GPUs are used as the price.
bool in_usd(const Step& step) {
  return std::ranges::all_of(
      step.variants, [](const VariantStep& variant) { return variant.role->supply.price_per_hour > MicroUsd{}; });
}

/// Returns the replicas that have their GPUs.
ReplicaCount placed_of(const Load::VariantLoad& seen, const WorkloadView& role) {
  return std::min(seen.serving + seen.loading, role.current);
}

/// Returns the capacity of the required replicas whose GPUs are unavailable; 1000 is one replica of the first variant.
/// Other variants must carry this load.
std::int64_t denied_worth(const Step& step, std::span<const MixOption> options) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!step.variants[i].denied) continue;
    const ReplicaCount placed = placed_of(step.load.variants[i], *step.variants[i].role);
    sum += std::max<ReplicaCount>(options[i].least - placed, 0) * options[i].worth_milli;
  }
  return sum;
}

/// Returns the range of choices for each variant.
/// @param may_stop  false: no variant gets fewer replicas than it has
std::vector<MixOption> options_of(const Step& step, bool may_stop) {
  const bool usd = in_usd(step);
  std::vector<MixOption> options;
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    const VariantStep& variant = step.variants[i];
    const Load::VariantLoad& seen = step.load.variants[i];
    const WorkloadView& role = *variant.role;
    MixOption& option = options.emplace_back();
    option.worth_milli = static_cast<std::int64_t>(variant.relative_capacity * 1000.0 + 0.5);
    const std::int64_t price = usd ? role.supply.price_per_hour.count : whole_gpus(role.supply.gpus).count;
    option.price = std::clamp<std::int64_t>(price, 1, kMaxPrice);
    option.current = role.current;
    const ReplicaCount placed = placed_of(seen, role);
    ReplicaCount most = role.max;
    if (variant.denied) {
      most = placed;
    } else if (role.supply.further_replicas) {
      most = std::min(most, placed + *role.supply.further_replicas);
    }
    option.least = std::max(variant.min, may_stop ? 0 : std::min(role.current, role.max));
    option.most = std::max(most, option.least);
  }
  return options;
}

/// Returns the smallest worth of a replica that can be chosen, at most 1. Tolerances are fractions of this worth.
double smallest_worth(std::span<const MixOption> options) {
  std::int64_t smallest = 1000;
  for (const MixOption& option : options) {
    if (option.worth_milli > 0 && option.most > 0) smallest = std::min(smallest, option.worth_milli);
  }
  return static_cast<double>(smallest) / 1000.0;
}

/// Returns the largest worth of a running replica. A fleet with such large replicas has a surplus of about half a
/// replica, however small the other variants are. Stopping a replica because of this surplus would not pay, because it
/// would be started again minutes later.
double largest_running_worth(std::span<const MixOption> options) {
  std::int64_t largest = 0;
  for (const MixOption& option : options) largest = std::max(largest, option.current > 0 ? option.worth_milli : 0);
  return static_cast<double>(largest) / 1000.0;
}

/// Returns the load to carry, in replicas of the first variant. This is the need. It is higher if the highest need
/// within a window, the requests in flight or the warm replicas are higher, but then at most what the existing replicas
/// can carry. The rules are the same as for one variant, except that nothing is rounded to whole replicas.
double load_to_carry(Step& step, const NeedHistory& history, std::span<const MixOption> options) {
  const double needed = step.need.total;
  const double smallest = smallest_worth(options);
  const double usable = kUsableMargin * step.need.margin();
  const double tolerated = std::clamp(usable, kRoundingTolerance * smallest, kClearSurplus * smallest);
  const double soon =
      history.round_trip_need + kClearSurplus * largest_running_worth(options) - kRoundingTolerance * smallest;
  const double late = history.longest_need - kRoundingTolerance * smallest;
  const bool by_short = step.lead_known && (history.seen < history.longest || soon <= late);
  step.window = by_short ? history.round_trip : history.longest;
  const double in_flight =
      step.load.in_flight() / static_cast<double>(step.first_variant_capacity().batch) - kRoundingTolerance * smallest;
  const double warm = static_cast<double>(warm_replicas(step)) - kRoundingTolerance * smallest;
  return std::max(needed - tolerated, std::min(std::max({by_short ? soon : late, in_flight, warm}), step.counted()));
}

MixTerms terms_of(const Step& step) {
  return {.horizon = std::max<Duration>(kMinHorizon, 2 * step.lead), .lead = step.lead};
}

/// Returns the chosen replicas plus the ones that must serve until their replacements do. Replicas stop in order of
/// price per worth, the most expensive first, as long as the remaining serving ones carry the target.
std::vector<ReplicaCount> keep_until_replaced(const Step& step, std::span<const MixOption> options, const Mix& chosen,
                                              double target) {
  std::vector<ReplicaCount> desired = chosen.replicas;
  std::vector<std::size_t> by_cost(options.size());
  std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
  std::ranges::sort(by_cost, [&](std::size_t a, std::size_t b) {
    const auto left = static_cast<__int128>(options[a].price) * options[b].worth_milli;
    const auto right = static_cast<__int128>(options[b].price) * options[a].worth_milli;
    return left != right ? left > right : a > b;
  });
  double spare = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    spare += static_cast<double>(step.load.variants[i].serving * options[i].worth_milli) / 1000.0;
  }
  spare = std::max(spare - target, 0.0);
  for (const std::size_t i : by_cost) {
    const ReplicaCount serving = std::min(step.load.variants[i].serving, options[i].current);
    const ReplicaCount stops = serving - desired[i];
    if (stops <= 0) continue;
    const double worth = static_cast<double>(options[i].worth_milli) / 1000.0;
    const auto affordable = worth > 0 ? static_cast<ReplicaCount>(std::floor(spare / worth + 1e-9)) : stops;
    const ReplicaCount stop = std::min(stops, affordable);
    spare -= static_cast<double>(stop) * worth;
    desired[i] = serving - stop;
  }
  return desired;
}

VariantSizing variant_sizing(const Step& step, std::size_t i, const MixOption& option) {
  const VariantStep& variant = step.variants[i];
  const Load::VariantLoad& seen = step.load.variants[i];
  const Instant until = variant_memory(step.memory, i).denied_until;
  return {.service = variant.role->service,
          .serving = seen.serving,
          .loading = seen.loading,
          .pending = seen.pending,
          .modelled = variant.engine.modelled,
          .correction_ppm = static_cast<std::int64_t>(variant.engine.correction * 1e6),
          .batch = variant.capacity.batch,
          .token_us = static_cast<std::int64_t>(variant.capacity.token_s * 1e6),
          .tokens_per_s = static_cast<std::int64_t>(variant.capacity.tokens_per_s),
          .bound = variant.capacity.bound,
          .out_of_reach = variant.capacity.out_of_reach,
          .worth_milli = option.worth_milli,
          .lead = variant.lead.time,
          .price_per_hour = variant.role->supply.price_per_hour,
          .gpus = variant.role->supply.gpus,
          .further_replicas = variant.role->supply.further_replicas,
          .denied = std::max(until - step.now, Duration{}),
          .current = option.current,
          .least = option.least,
          .most = option.most};
}

/// The chosen replicas of each variant, and the terms of the choice.
struct MixChoice {
  std::vector<MixOption> options;
  MixTerms terms;
  std::int64_t target_milli = 0;  ///< load to carry, including surplus that a scale-down window holds
  std::int64_t needed_milli = 0;  ///< `target_milli` plus the capacity of required replicas whose GPUs are unavailable
  Mix chosen;
  std::vector<ReplicaCount> desired;  ///< replicas to request, including ones whose replacements do not serve yet
};

MixChoice choose(const Step& step, std::vector<MixOption> options, double needed) {
  MixChoice choice{.options = std::move(options), .terms = terms_of(step), .chosen = {}, .desired = {}};
  choice.target_milli = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(needed * 1000.0)));
  choice.needed_milli = choice.target_milli + denied_worth(step, choice.options);
  choice.chosen = cheapest_mix(choice.options, choice.needed_milli, choice.terms);
  choice.desired = keep_until_replaced(step, choice.options, choice.chosen, needed);
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    choice.desired[i] = std::clamp(choice.desired[i], choice.options[i].least, choice.options[i].most);
  }
  return choice;
}

/// Returns the numbers of the decision, for its explanation.
Sizing sizing_of_mix(const Step& step, const MixChoice& choice) {
  Sizing sizing = sizing_of(step);
  const Mix from_zero =
      cheapest_mix(choice.options, choice.needed_milli, {.horizon = choice.terms.horizon, .lead = {}});
  MixSizing& mix = sizing.mix.emplace();
  mix.in_usd = in_usd(step);
  mix.horizon = choice.terms.horizon;
  mix.target_milli = choice.target_milli;
  mix.chosen_price = choice.chosen.price;
  mix.from_zero_price = from_zero.price;
  mix.covers = choice.chosen.covers;
  mix.exact = choice.chosen.exact;
  for (std::size_t i = 0; i < choice.options.size(); ++i) {
    const MixOption& option = choice.options[i];
    VariantSizing& variant = mix.variants.emplace_back(variant_sizing(step, i, option));
    variant.chosen = choice.chosen.replicas[i];
    variant.from_zero = from_zero.replicas[i];
    variant.replicas_alone = replicas_alone(option, choice.needed_milli);
    variant.desired = choice.desired[i];
    mix.price += option.current * option.price;
  }
  return sizing;
}

model::Reason why_of(const Step& step, const Sizing& s, const VariantSizing& variant) {
  const MixSizing& mix = *s.mix;
  const std::int64_t in_gpus = mix.in_usd ? 0 : 1;  // the unit of the prices
  if (variant.desired > variant.current) {
    return {ReasonCode::mix_raised,
            {variant.desired, mix.target_milli, mix.chosen_price, whole_seconds(s.lead), in_gpus}};
  }
  if (variant.desired < variant.current) {
    if (variant.worth_milli == 0) return {ReasonCode::variant_out_of_reach, {variant.desired}};
    if (variant.denied > Duration{}) return {ReasonCode::gpus_denied, {variant.desired, whole_seconds(variant.denied)}};
    return {ReasonCode::mix_lowered, {variant.desired, mix.target_milli, mix.chosen_price, 0, in_gpus}};
  }
  if (!mix.covers) return {ReasonCode::mix_too_small, {variant.desired, mix.target_milli}};
  if (variant.chosen < variant.desired)
    return {ReasonCode::mix_overlaps, {variant.chosen, variant.desired - variant.chosen}};
  if (s.silent > 0 && s.needed_milli < mix.target_milli) {
    return {ReasonCode::signal_missing, {s.silent, step.load.expected_readings}};
  }
  if (variant.worth_milli == 0) return {ReasonCode::variant_out_of_reach, {variant.desired}};
  if (mix.from_zero_price < mix.chosen_price) {
    return {ReasonCode::mix_kept,
            {variant.desired, mix.chosen_price, mix.from_zero_price, whole_seconds(mix.horizon), in_gpus}};
  }
  return {ReasonCode::mix_holds, {variant.desired, mix.target_milli, mix.chosen_price, 0, in_gpus}};
}

/// Returns the decision about one variant.
Decision variant_decision(const WorkloadView& role, const Step& step, const MixChoice& choice, std::size_t i,
                          model::Reason why) {
  const Load::VariantLoad& seen = step.load.variants[i];
  Decision decision;
  decision.service = role.service;
  decision.current = role.current;
  decision.counted = std::max(role.current, seen.serving + seen.loading + seen.pending);
  decision.proposed = choice.chosen.replicas[i];
  decision.stabilized = decision.desired = choice.desired[i];
  decision.why = why;
  return finish(std::move(decision), role);
}

/// Returns the reason of the decision about the variant at a position.
using WhyOf = std::function<model::Reason(const Sizing&, std::size_t)>;

/// Joins the decisions about all variants: the first one holds the sizing and all plans.
Decision join_decisions(const Step& step, const WorkloadView& role, const MixChoice& choice, const WhyOf& why) {
  const Sizing sizing = sizing_of_mix(step, choice);
  Decision all = variant_decision(role, step, choice, 0, why(sizing, 0));
  all.sizing = sizing;
  all.lead = step.lead;
  for (std::size_t i = 0; i < role.alternatives.size(); ++i) {
    Decision other = variant_decision(role.alternatives[i], step, choice, i + 1, why(sizing, i + 1));
    other.decided_with = role.service;
    std::ranges::move(other.plan.actions, std::back_inserter(all.plan.actions));
    std::ranges::move(other.plan.no_actions, std::back_inserter(all.plan.no_actions));
    other.plan = {};
    all.alternatives.push_back(std::move(other));
  }
  return all;
}

/// Returns the worth of all requested replicas, in replicas of the first variant.
double requested_worth(std::span<const MixOption> options) {
  double sum = 0;
  for (const MixOption& option : options) sum += static_cast<double>(option.current * option.worth_milli) / 1000.0;
  return sum;
}

}  // namespace

Decision decide_mix(const Capstan& policy, const WorkloadView& role, CapstanMemory& memory, Instant now) {
  const WorkloadView all = merged_variants(role);
  Step step = observe(all, policy, memory, now);
  if (step.load.serving == 0) {
    const std::vector<MixOption> options = options_of(step, true);
    // No replica serves, so only the gateway knows the demand.
    const RequestCount queued = step.gateway_queued();
    const double waits = static_cast<double>(queued) / static_cast<double>(step.first_variant_capacity().batch);
    const double asked = std::max(requested_worth(options), waits);
    MixChoice choice = choose(step, options, asked);
    if (asked <= 0) {
      for (std::size_t i = 0; i < options.size(); ++i) choice.chosen.replicas[i] = choice.desired[i] = options[i].least;
    }
    return join_decisions(step, role, choice, [&](const Sizing&, std::size_t i) {
      return queued > 0 ? model::Reason{ReasonCode::wake_for_waiting, {queued, choice.desired[i]}}
                        : model::Reason{ReasonCode::demand_unknown, {choice.desired[i]}};
    });
  }
  compute_need(step);
  const NeedHistory history = need_history(step, step.need.total);
  // A silent replica prevents a scale-down. So does a history shorter than a stop-and-start round trip.
  std::vector<MixOption> options = options_of(step, step.load.silent == 0 && history.seen >= history.round_trip);
  const double load = load_to_carry(step, history, options);
  MixChoice choice = choose(step, std::move(options), load);
  if (can_sleep(step) && warm_replicas(step) > 0) {
    return join_decisions(step, role, choice, [&](const Sizing& sizing, std::size_t i) {
      const VariantSizing& variant = sizing.mix->variants[i];
      return variant.desired == variant.current && variant.desired > 0 ? warm_reason(*step.warm)
                                                                       : why_of(step, sizing, variant);
    });
  }
  if (can_sleep(step)) {
    std::ranges::fill(choice.chosen.replicas, 0);
    std::ranges::fill(choice.desired, 0);
    const model::Reason none{ReasonCode::no_demand, {whole_seconds(now - memory.last_used)}};
    return join_decisions(step, role, choice, [&](const Sizing&, std::size_t) { return none; });
  }
  return join_decisions(step, role, choice, [&](const Sizing& sizing, std::size_t i) {
    return why_of(step, sizing, sizing.mix->variants[i]);
  });
}

}  // namespace capstan::decide::scale
