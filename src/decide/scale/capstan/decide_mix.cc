#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "decide/scale/by_policy.h"
#include "decide/scale/capstan/mix.h"
#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

constexpr Duration kHorizonLeast = std::chrono::hours(1);
constexpr std::int64_t kPriceMost = 1'000'000'000'000;

/// Prices in USD where all of them are known, else in GPUs.
bool in_usd(const Step& step) {
  return std::ranges::all_of(step.variants,
                             [](const VariantStep& each) { return each.role->supply.price_per_hour > MicroUsd{}; });
}

/// Those that have their GPUs.
ReplicaCount placed_of(const Load::OfVariant& seen, const RoleView& role) {
  return std::min(seen.serving + seen.loading, role.current);
}

/// What replicas would carry that have to be asked for although their GPUs cannot be had, thousandths: others have to.
std::int64_t in_vain(const Step& step, std::span<const MixOption> options) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!step.variants[i].denied) continue;
    const ReplicaCount placed = placed_of(step.load.variants[i], *step.variants[i].role);
    sum += std::max<ReplicaCount>(options[i].least - placed, 0) * options[i].worth_milli;
  }
  return sum;
}

/// What can be chosen of each variant.
/// @param may_stop  else there is no less of any than there is
std::vector<MixOption> options_of(const Step& step, bool may_stop) {
  const bool usd = in_usd(step);
  std::vector<MixOption> options;
  for (std::size_t i = 0; i < step.variants.size(); ++i) {
    const VariantStep& each = step.variants[i];
    const Load::OfVariant& seen = step.load.variants[i];
    const RoleView& role = *each.role;
    MixOption& option = options.emplace_back();
    option.worth_milli = static_cast<std::int64_t>(each.worth * 1000.0 + 0.5);
    const std::int64_t price = usd ? role.supply.price_per_hour.count : whole_gpus(role.supply.gpus).count;
    option.price = std::clamp<std::int64_t>(price, 1, kPriceMost);
    option.current = role.current;
    const ReplicaCount placed = placed_of(seen, role);
    ReplicaCount most = role.max;
    if (each.denied) {
      most = placed;
    } else if (role.supply.more) {
      most = std::min(most, placed + *role.supply.more);
    }
    option.least = std::max(each.min, may_stop ? 0 : std::min(role.current, role.max));
    option.most = std::max(most, option.least);
  }
  return options;
}

/// The smallest worth of a replica that can be chosen, at most one: what is tolerated is a part of it.
double grain(std::span<const MixOption> options) {
  std::int64_t smallest = 1000;
  for (const MixOption& option : options) {
    if (option.worth_milli > 0 && option.most > 0) smallest = std::min(smallest, option.worth_milli);
  }
  return static_cast<double>(smallest) / 1000.0;
}

/// The largest worth of a replica that runs: so coarse a fleet keeps about half of it in surplus, however fine the
/// others are. To trim that, and to start it again some minutes later, would be dearer.
double coarsest(std::span<const MixOption> options) {
  std::int64_t largest = 0;
  for (const MixOption& option : options) largest = std::max(largest, option.current > 0 ? option.worth_milli : 0);
  return static_cast<double>(largest) / 1000.0;
}

/// What has to be carried: what is needed, and no less than what was within the windows. As for one variant, but in
/// worth, which is no whole number.
double to_carry(Step& step, const LookBack& back, double needed, std::span<const MixOption> options) {
  const double smallest = grain(options);
  const Sizing& s = step.sizing;
  const double in_hand = needed - static_cast<double>(s.forecast_milli + s.backlog_milli) / 1000.0;
  const double tolerated = std::clamp(kMarginTolerated * in_hand, kTolerated * smallest, kClearly * smallest);
  const double soon = back.soon + kClearly * coarsest(options) - kTolerated * smallest;
  const double late = back.late - kTolerated * smallest;
  const bool by_short = step.lead_known && (back.seen < back.longest || soon <= late);
  tell_window(step, by_short ? back.round_trip : back.longest);
  const double in_flight = step.load.in_flight() / static_cast<double>(step.unit().batch) - kTolerated * smallest;
  const double warm = static_cast<double>(kept_warm(step)) - kTolerated * smallest;
  return std::max(needed - tolerated, std::min(std::max({by_short ? soon : late, in_flight, warm}), step.counted()));
}

MixTerms terms_of(const Step& step) {
  return {.horizon = std::max<Duration>(kHorizonLeast, 2 * step.sizing.lead), .lead = step.sizing.lead};
}

/// Those that serve stay until what takes their place serves: of what is chosen, only so many stop now that the rest
/// of those that serve still carries the target. The dearest first.
std::vector<ReplicaCount> overlapped(const Step& step, std::span<const MixOption> options, const Mix& chosen,
                                     double target) {
  std::vector<ReplicaCount> desired = chosen.replicas;
  std::vector<std::size_t> dearest(options.size());
  std::iota(dearest.begin(), dearest.end(), std::size_t{0});
  std::ranges::sort(dearest, [&](std::size_t a, std::size_t b) {
    const auto left = static_cast<__int128>(options[a].price) * options[b].worth_milli;
    const auto right = static_cast<__int128>(options[b].price) * options[a].worth_milli;
    return left != right ? left > right : a > b;
  });
  double spare = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    spare += static_cast<double>(step.load.variants[i].serving * options[i].worth_milli) / 1000.0;
  }
  spare = std::max(spare - target, 0.0);
  for (const std::size_t i : dearest) {
    const ReplicaCount serving = std::min(step.load.variants[i].serving, options[i].current);
    const ReplicaCount stops = serving - desired[i];
    if (stops <= 0) continue;
    const double worth = static_cast<double>(options[i].worth_milli) / 1000.0;
    const auto may = worth > 0 ? static_cast<ReplicaCount>(std::floor(spare / worth + 1e-9)) : stops;
    const ReplicaCount stop = std::min(stops, may);
    spare -= static_cast<double>(stop) * worth;
    desired[i] = serving - stop;
  }
  return desired;
}

VariantSizing told_of(const Step& step, std::size_t i, const MixOption& option) {
  const VariantStep& each = step.variants[i];
  const Load::OfVariant& seen = step.load.variants[i];
  const Instant until = learned(step.memory, i).denied_until;
  return {.service = each.role->service,
          .serving = seen.serving,
          .loading = seen.loading,
          .pending = seen.pending,
          .modelled = each.engine.modelled,
          .correction_ppm = static_cast<std::int64_t>(each.engine.correction * 1e6),
          .batch = each.carries.batch,
          .token_us = static_cast<std::int64_t>(each.carries.token_s * 1e6),
          .tokens_per_s = static_cast<std::int64_t>(each.carries.tokens_per_s),
          .bound = each.carries.bound,
          .out_of_reach = each.carries.out_of_reach,
          .worth_milli = option.worth_milli,
          .lead = each.lead.time,
          .price_per_hour = each.role->supply.price_per_hour,
          .gpus = each.role->supply.gpus,
          .more = each.role->supply.more,
          .denied = std::max(until - step.now, Duration{}),
          .current = option.current,
          .least = option.least,
          .most = option.most};
}

/// The choice and its arithmetic, into the step's sizing.
void choose(Step& step, std::span<const MixOption> options, double needed) {
  const auto target_milli = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(needed * 1000.0)));
  const std::int64_t needed_milli = target_milli + in_vain(step, options);
  const MixTerms terms = terms_of(step);
  const Mix chosen = cheapest_mix(options, needed_milli, terms);
  const Mix anew = cheapest_mix(options, needed_milli, {.horizon = terms.horizon, .lead = {}});
  MixSizing& mix = step.sizing.mix.emplace();
  mix.in_usd = in_usd(step);
  mix.horizon = terms.horizon;
  mix.target_milli = target_milli;
  mix.chosen_price = chosen.price;
  mix.anew_price = anew.price;
  mix.covers = chosen.covers;
  mix.exact = chosen.exact;
  const std::vector<ReplicaCount> desired = overlapped(step, options, chosen, needed);
  for (std::size_t i = 0; i < options.size(); ++i) {
    VariantSizing& each = mix.variants.emplace_back(told_of(step, i, options[i]));
    each.chosen = chosen.replicas[i];
    each.begun_anew = anew.replicas[i];
    each.alone = alone(options[i], needed_milli);
    each.desired = std::clamp(desired[i], options[i].least, options[i].most);
    mix.price += options[i].current * options[i].price;
  }
}

model::Reason why_of(const Step& step, const VariantSizing& each) {
  const Sizing& s = step.sizing;
  const MixSizing& mix = *s.mix;
  if (each.desired > each.current) {
    return {ReasonCode::mix_raised, {each.desired, mix.target_milli, mix.chosen_price, whole_seconds(s.lead)}};
  }
  if (each.desired < each.current) {
    if (each.worth_milli == 0) return {ReasonCode::variant_out_of_reach, {each.desired}};
    if (each.denied > Duration{}) return {ReasonCode::gpus_denied, {each.desired, whole_seconds(each.denied)}};
    return {ReasonCode::mix_lowered, {each.desired, mix.target_milli, mix.chosen_price}};
  }
  if (!mix.covers) return {ReasonCode::mix_too_small, {each.desired, mix.target_milli}};
  if (each.chosen < each.desired) return {ReasonCode::mix_overlaps, {each.chosen, each.desired - each.chosen}};
  if (s.silent > 0 && s.needed_milli < mix.target_milli) {
    return {ReasonCode::signal_missing, {s.silent, step.load.asked}};
  }
  if (each.worth_milli == 0) return {ReasonCode::variant_out_of_reach, {each.desired}};
  if (mix.anew_price < mix.chosen_price) {
    return {ReasonCode::mix_kept, {each.desired, mix.chosen_price, mix.anew_price, whole_seconds(mix.horizon)}};
  }
  return {ReasonCode::mix_holds, {each.desired, mix.target_milli, mix.chosen_price}};
}

/// What is decided of one variant.
Decision decided(const RoleView& role, const VariantSizing& each, model::Reason why) {
  Decision decision;
  decision.service = role.service;
  decision.variant = role.variant;
  decision.current = role.current;
  decision.counted = std::max(role.current, each.serving + each.loading + each.pending);
  decision.wanted = each.chosen;
  decision.held_to = decision.desired = each.desired;
  decision.why = why;
  return finish(std::move(decision), role);
}

/// One decision of all variants: the first has the sizing, and the plans of all.
Decision joined(const Step& step, const RoleView& role, const std::function<model::Reason(std::size_t)>& why) {
  const MixSizing& mix = *step.sizing.mix;
  Decision all = decided(role, mix.variants[0], why(0));
  all.sizing = step.sizing;
  for (std::size_t i = 0; i < role.beside.size(); ++i) {
    Decision other = decided(role.beside[i], mix.variants[i + 1], why(i + 1));
    other.decided_with = role.service;
    std::ranges::move(other.plan.actions, std::back_inserter(all.plan.actions));
    std::ranges::move(other.plan.kept, std::back_inserter(all.plan.kept));
    other.plan = {};
    all.beside.push_back(std::move(other));
  }
  return all;
}

/// All that is asked for, in replicas of the first.
double asked_for(std::span<const MixOption> options) {
  double sum = 0;
  for (const MixOption& option : options) sum += static_cast<double>(option.current * option.worth_milli) / 1000.0;
  return sum;
}

}  // namespace

Decision decide_mix(const Capstan& policy, const RoleView& role, CapstanMemory& memory, Instant now) {
  const RoleView all = together(role);
  Step step = observe(all, policy, memory, now);
  if (step.load.serving == 0) {
    const std::vector<MixOption> options = options_of(step, true);
    // Only the gateway knows what is asked for.
    const RequestCount held = step.load.gateway_read ? step.sizing.held : 0;
    const double waits = static_cast<double>(held) / static_cast<double>(step.unit().batch);
    const double asked = std::max(asked_for(options), waits);
    if (asked <= 0) {
      choose(step, options, 0);
      for (VariantSizing& each : step.sizing.mix->variants) each.chosen = each.desired = each.least;
      return joined(step, role, [&](std::size_t i) {
        return model::Reason{ReasonCode::demand_unknown, {step.sizing.mix->variants[i].desired}};
      });
    }
    choose(step, options, asked);
    return joined(step, role, [&](std::size_t i) {
      const ReplicaCount desired = step.sizing.mix->variants[i].desired;
      return held > 0 ? model::Reason{ReasonCode::wake_for_waiting, {held, desired}}
                      : model::Reason{ReasonCode::demand_unknown, {desired}};
    });
  }
  const double needed = size(step);
  const LookBack back = look_back(step, needed);
  // Silence lowers nothing; and until a stop and a start have been seen to fit in, nobody knows what may stop.
  const std::vector<MixOption> options = options_of(step, step.load.silent == 0 && back.seen >= back.round_trip);
  choose(step, options, to_carry(step, back, needed, options));
  if (could_sleep(step) && kept_warm(step) > 0) {
    return joined(step, role, [&](std::size_t i) {
      const VariantSizing& each = step.sizing.mix->variants[i];
      return each.desired == each.current && each.desired > 0 ? too_late(*step.sizing.warm) : why_of(step, each);
    });
  }
  if (could_sleep(step)) {
    for (VariantSizing& each : step.sizing.mix->variants) each.chosen = each.desired = 0;
    const model::Reason none{ReasonCode::no_demand, {whole_seconds(now - memory.last_used)}};
    return joined(step, role, [&](std::size_t) { return none; });
  }
  return joined(step, role, [&](std::size_t i) { return why_of(step, step.sizing.mix->variants[i]); });
}

}  // namespace capstan::decide::scale
