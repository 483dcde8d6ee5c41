#include "decide/scale/hpa.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace capstan::decide::scale {
namespace {

/// Truncates towards zero and clamps to an int32; NaN becomes 0.
ReplicaCount to_int32(double value) {
  constexpr double kMin = -2147483648.0, kMax = 2147483647.0;
  return std::isnan(value) ? 0 : static_cast<ReplicaCount>(std::clamp(value, kMin, kMax));
}

/// Wraps a sum around as Kubernetes' int32 does. In Kubernetes, a policy of 2147483647 pods, meant as "any number",
/// therefore allows none.
ReplicaCount wrapped(ReplicaCount sum) { return static_cast<std::int32_t>(sum); }

/// Returns the replicas at the start of a policy's period.
ReplicaCount at_start(const Memory& memory, ReplicaCount current, Duration period, Instant now) {
  return wrapped(current - changed_within(memory.ups, period, now) + changed_within(memory.downs, period, now));
}

Duration longest_period(const HpaRules& rules) {
  Duration longest{};
  for (const HpaRatePolicy& policy : rules.policies) longest = std::max(longest, policy.period);
  return longest;
}

/// Overwrites the last entry for which `old` is true, or appends one, as Kubernetes does.
template <typename Entry, typename Old>
void keep(std::vector<Entry>& entries, Entry entry, Old old) {
  const auto last = std::find_if(entries.rbegin(), entries.rend(), old);
  if (last != entries.rend())
    *last = entry;
  else
    entries.push_back(entry);
}

}  // namespace

ReplicaCount hpa_ceil(double replicas) { return to_int32(std::ceil(replicas)); }

ReplicaCount changed_within(const std::vector<Memory::Change>& changes, Duration period, Instant now) {
  ReplicaCount sum = 0;
  for (const Memory::Change& change : changes) sum += change.at > now - period ? change.replicas : 0;
  return sum;
}

bool is_outdated(const Memory::Change& change, const HpaRules& rules, Instant now) {
  return change.at < now - longest_period(rules);
}

ReplicaCount scale_up_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now) {
  if (rules.select == HpaRules::Select::disabled) return current;
  const bool highest = rules.select == HpaRules::Select::max;
  ReplicaCount limit = highest ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
  for (const HpaRatePolicy& policy : rules.policies) {
    const ReplicaCount start = at_start(memory, current, policy.period, now);
    const ReplicaCount proposed =
        policy.kind == HpaRatePolicy::Kind::pods
            ? wrapped(start + policy.value)
            : hpa_ceil(static_cast<double>(start) * (1.0 + static_cast<double>(policy.value) / 100.0));
    limit = highest ? std::max(limit, proposed) : std::min(limit, proposed);
  }
  return limit;
}

ReplicaCount scale_down_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now) {
  if (rules.select == HpaRules::Select::disabled) return current;
  // "Max" selects the largest change, which for a scale-down is the lowest count.
  const bool lowest = rules.select == HpaRules::Select::max;
  ReplicaCount limit = lowest ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
  for (const HpaRatePolicy& policy : rules.policies) {
    const ReplicaCount start = at_start(memory, current, policy.period, now);
    const ReplicaCount proposed =
        policy.kind == HpaRatePolicy::Kind::pods
            ? wrapped(start - policy.value)
            : to_int32(static_cast<double>(start) * (1.0 - static_cast<double>(policy.value) / 100.0));
    limit = lowest ? std::min(limit, proposed) : std::max(limit, proposed);
  }
  return limit;
}

void record_first_replicas(Memory& memory, ReplicaCount current, Instant now) {
  if (memory.has_decided) return;
  memory.has_decided = true;
  memory.recommendations.push_back({now, current});
}

ReplicaCount stabilize(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount proposed,
                       Instant now) {
  ReplicaCount held = proposed;
  Duration seen_for = settings.downscale_stabilization;
  if (!settings.behavior) {
    // Without `behavior`, a recommendation exactly as old as the window still counts; with `behavior`, it does not.
    for (const Memory::Recommendation& past : memory.recommendations) {
      if (past.at >= now - settings.downscale_stabilization) held = std::max(held, past.replicas);
    }
  } else {
    const Duration up_window = settings.behavior->up.stabilization;
    const Duration down_window = settings.behavior->down.stabilization;
    ReplicaCount up = proposed, down = proposed;
    for (const Memory::Recommendation& past : memory.recommendations) {
      if (past.at > now - up_window) up = std::min(up, past.replicas);
      if (past.at > now - down_window) down = std::max(down, past.replicas);
    }
    held = std::min(std::max(current, up), down);
    seen_for = std::max(up_window, down_window);
  }
  keep(memory.recommendations, Memory::Recommendation{now, proposed},
       [&](const Memory::Recommendation& past) { return past.at < now - seen_for; });
  return held;
}

HpaLimitedCount limit_rate(const Memory& memory, const HpaSettings& settings, ReplicaCount current,
                           ReplicaCount proposed, ReplicaCount min, ReplicaCount max, Instant now) {
  // If a user's bound and a rate limit are equal, the bound is reported.
  const auto at_most = [&](ReplicaCount limit) -> HpaLimitedCount {
    if (proposed <= std::min(limit, max)) return {proposed, HpaLimit::none};
    return max > limit ? HpaLimitedCount{limit, HpaLimit::scale_up_limit}
                       : HpaLimitedCount{max, HpaLimit::too_many_replicas};
  };
  const auto at_least = [&](ReplicaCount limit) -> HpaLimitedCount {
    if (proposed >= std::max(limit, min)) return {proposed, HpaLimit::none};
    return min < limit ? HpaLimitedCount{limit, HpaLimit::scale_down_limit}
                       : HpaLimitedCount{min, HpaLimit::too_few_replicas};
  };
  if (!settings.behavior) {
    if (proposed < min) return {min, HpaLimit::too_few_replicas};
    return at_most(std::max<ReplicaCount>(2 * current, 4));
  }
  if (proposed > current)
    return at_most(std::max(current, scale_up_limit(memory, settings.behavior->up, current, now)));
  if (proposed < current) {
    return at_least(std::min(current, scale_down_limit(memory, settings.behavior->down, current, now)));
  }
  return {proposed, HpaLimit::none};
}

void record_change(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount desired,
                   Instant now) {
  if (!settings.behavior || desired == current) return;
  const bool up = desired > current;
  const HpaRules& rules = up ? settings.behavior->up : settings.behavior->down;
  keep(up ? memory.ups : memory.downs, Memory::Change{now, up ? desired - current : current - desired},
       [&](const Memory::Change& change) { return is_outdated(change, rules, now); });
}

}  // namespace capstan::decide::scale
