#include "decide/scale/hpa.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace capstan::decide::scale {
namespace {

/// ceil of a product of doubles; saturates, because a ratio may be anything.
ReplicaCount ceil_of(double product) {
  constexpr double kMost = 2147483647.0;
  return static_cast<ReplicaCount>(std::ceil(std::min(product, kMost)));
}

bool within(double ratio, const HpaSettings& settings) {
  const double down = static_cast<double>(settings.tolerance_down_per_mille) / 1000.0;
  const double up = static_cast<double>(settings.tolerance_up_per_mille) / 1000.0;
  return 1.0 - down <= ratio && ratio <= 1.0 + up;
}

double ratio_of(std::int64_t total_milli, std::int64_t samples, std::int64_t target_milli) {
  return static_cast<double>(total_milli / samples) / static_cast<double>(target_milli);
}

ReplicaCount changed_since(const std::vector<Memory::Change>& changes, Instant now, Duration period) {
  ReplicaCount sum = 0;
  for (const Memory::Change& change : changes) sum += change.at > now - period ? change.replicas : 0;
  return sum;
}

ReplicaCount up_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now) {
  if (rules.select == HpaRules::Select::disabled) return current;
  const bool highest = rules.select == HpaRules::Select::max;
  ReplicaCount limit = highest ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  for (const HpaRatePolicy& policy : rules.policies) {
    const ReplicaCount start =
        current - changed_since(memory.ups, now, policy.period) + changed_since(memory.downs, now, policy.period);
    const ReplicaCount proposed =
        policy.kind == HpaRatePolicy::Kind::pods
            ? start + policy.value
            : ceil_of(static_cast<double>(start) * (1.0 + static_cast<double>(policy.value) / 100.0));
    limit = highest ? std::max(limit, proposed) : std::min(limit, proposed);
  }
  return std::max(limit, current);
}

ReplicaCount down_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now) {
  if (rules.select == HpaRules::Select::disabled) return current;
  // "Max" is the largest change, which on the way down is the smallest count.
  const bool lowest = rules.select == HpaRules::Select::max;
  ReplicaCount limit = lowest ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
  for (const HpaRatePolicy& policy : rules.policies) {
    const ReplicaCount start =
        current - changed_since(memory.ups, now, policy.period) + changed_since(memory.downs, now, policy.period);
    const ReplicaCount proposed =
        policy.kind == HpaRatePolicy::Kind::pods
            ? start - policy.value
            : static_cast<ReplicaCount>(static_cast<double>(start) * (1.0 - static_cast<double>(policy.value) / 100.0));
    limit = lowest ? std::min(limit, proposed) : std::max(limit, proposed);
  }
  return std::min(limit, current);
}

Duration longest_period(const HpaRules& rules) {
  Duration longest{};
  for (const HpaRatePolicy& policy : rules.policies) longest = std::max(longest, policy.period);
  return longest;
}

}  // namespace

HpaProposal propose_by_pods(std::span<const HpaPod> pods, std::int64_t target_milli, ReplicaCount current,
                            const HpaSettings& settings) {
  std::int64_t total = 0, ready = 0, unready = 0, missing = 0;
  for (const HpaPod& pod : pods) {
    ready += pod.group == HpaPod::Group::ready ? 1 : 0;
    unready += pod.group == HpaPod::Group::unready ? 1 : 0;
    missing += pod.group == HpaPod::Group::missing ? 1 : 0;
    total += pod.group == HpaPod::Group::ready ? pod.milli : 0;
  }
  HpaProposal proposal;
  proposal.replicas = current;
  if (ready == 0) return proposal;

  proposal.valid = true;
  proposal.mean_milli = total / ready;
  proposal.ratio = proposal.filled_ratio = ratio_of(total, ready, target_milli);
  const bool up_with_unready = unready > 0 && proposal.ratio > 1.0;
  if (!up_with_unready && missing == 0) {
    proposal.within_tolerance = within(proposal.ratio, settings);
    if (!proposal.within_tolerance) proposal.replicas = ceil_of(proposal.ratio * static_cast<double>(ready));
    return proposal;
  }

  // Those that are missing count as exactly on target on the way down and as idle otherwise; those that are unready
  // count as idle on the way up and not at all on the way down.
  std::int64_t samples = ready + missing;
  if (proposal.ratio < 1.0) total += missing * target_milli;
  if (up_with_unready) samples += unready;
  proposal.filled_ratio = ratio_of(total, samples, target_milli);
  const bool turned =
      (proposal.ratio < 1.0 && proposal.filled_ratio > 1.0) || (proposal.ratio > 1.0 && proposal.filled_ratio < 1.0);
  proposal.within_tolerance = within(proposal.filled_ratio, settings);
  if (proposal.within_tolerance || turned) return proposal;
  const ReplicaCount replicas = ceil_of(proposal.filled_ratio * static_cast<double>(samples));
  const bool backwards =
      (proposal.filled_ratio < 1.0 && replicas > current) || (proposal.filled_ratio > 1.0 && replicas < current);
  if (!backwards) proposal.replicas = replicas;
  return proposal;
}

ReplicaCount stabilize(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                       Instant now) {
  ReplicaCount held = wanted;
  Duration kept_for = settings.downscale_stabilization;
  if (!settings.behavior) {
    // Exactly as old as the window still counts here; with behaviour it does not.
    for (const Memory::Answer& answer : memory.answers) {
      if (answer.at >= now - settings.downscale_stabilization) held = std::max(held, answer.replicas);
    }
  } else {
    const Duration up_window = settings.behavior->up.stabilization;
    const Duration down_window = settings.behavior->down.stabilization;
    ReplicaCount up = wanted, down = wanted;
    for (const Memory::Answer& answer : memory.answers) {
      if (answer.at > now - up_window) up = std::min(up, answer.replicas);
      if (answer.at > now - down_window) down = std::max(down, answer.replicas);
    }
    held = std::min(std::max(current, up), down);
    kept_for = std::max(up_window, down_window);
  }
  std::erase_if(memory.answers, [&](const Memory::Answer& answer) { return answer.at < now - kept_for; });
  memory.answers.push_back({now, wanted});
  return held;
}

ReplicaCount limit_rate(const Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                        ReplicaCount min, ReplicaCount max, Instant now) {
  if (!settings.behavior) {
    const ReplicaCount most = std::min(max, std::max<ReplicaCount>(2 * current, 4));
    return wanted < min ? min : std::min(wanted, most);
  }
  if (wanted > current) return std::min({wanted, max, up_limit(memory, settings.behavior->up, current, now)});
  if (wanted < current) return std::max({wanted, min, down_limit(memory, settings.behavior->down, current, now)});
  return wanted;
}

void note_change(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount desired, Instant now) {
  if (!settings.behavior || desired == current) return;
  const HpaBehavior& behavior = *settings.behavior;
  // The limits of both directions look at both lists.
  const Duration longest = std::max(longest_period(behavior.up), longest_period(behavior.down));
  for (std::vector<Memory::Change>* changes : {&memory.ups, &memory.downs}) {
    std::erase_if(*changes, [&](const Memory::Change& change) { return change.at < now - longest; });
  }
  if (desired > current)
    memory.ups.push_back({now, desired - current});
  else
    memory.downs.push_back({now, current - desired});
}

}  // namespace capstan::decide::scale
