#include "decide/scale/hpa_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decide/scale/hpa.h"

namespace capstan::decide::scale {
namespace {

using Group = HpaPod::Group;

constexpr std::int64_t kMaxMilliHeld = std::numeric_limits<std::int64_t>::max();

bool within(double ratio, const HpaSettings& settings) {
  const double down = static_cast<double>(settings.tolerance_down_per_mille) / 1000.0;
  const double up = static_cast<double>(settings.tolerance_up_per_mille) / 1000.0;
  return 1.0 - down <= ratio && ratio <= 1.0 + up;
}

std::int64_t count(std::span<const HpaPod> pods, Group group) {
  return std::ranges::count(pods, group, &HpaPod::group);
}

/// The number of samples of one metric and the ratio of their mean to the target. Both are computed twice: from the
/// real samples only, and from the real and the assumed ones.
struct Samples {
  std::int64_t number = 0;  ///< number of samples, including samples without a pod
  double ratio = 0;
};

/// Computes the proposal of a Pods or Resource metric. `fill` returns the samples after values were assumed for missing
/// and unready pods.
template <typename Fill>
void propose(HpaProposal& proposal, std::span<const HpaPod> pods, ReplicaCount current, const HpaSettings& settings,
             Fill fill) {
  const bool up_with_unready = count(pods, Group::unready) > 0 && proposal.ratio > 1.0;
  proposal.replicas = current;
  if (!up_with_unready && count(pods, Group::missing) == 0) {
    proposal.filled_ratio = proposal.ratio;
    proposal.within_tolerance = within(proposal.ratio, settings);
    const auto ready = static_cast<double>(count(pods, Group::ready));
    if (!proposal.within_tolerance) proposal.replicas = hpa_ceil(proposal.ratio * ready);
    return;
  }
  const Samples filled = fill(up_with_unready);
  proposal.filled_ratio = filled.ratio;
  const bool turned = (proposal.ratio < 1.0 && filled.ratio > 1.0) || (proposal.ratio > 1.0 && filled.ratio < 1.0);
  proposal.within_tolerance = within(filled.ratio, settings);
  if (proposal.within_tolerance || turned) return;
  const ReplicaCount replicas = hpa_ceil(filled.ratio * static_cast<double>(filled.number));
  const bool backwards = (filled.ratio < 1.0 && replicas > current) || (filled.ratio > 1.0 && replicas < current);
  if (!backwards) proposal.replicas = replicas;
}

/// Calls `add` for ready pods and for samples without a pod: the samples that remain after groupPods.
template <typename Add>
void each_sample(std::span<const HpaPod> pods, Add add) {
  for (const HpaPod& pod : pods) {
    if (pod.group == Group::ready || pod.group == Group::superfluous) add(pod);
  }
}

bool some_pod_exists(std::span<const HpaPod> pods) {
  return std::ranges::any_of(pods, [](const HpaPod& pod) { return pod.group != Group::superfluous; });
}

}  // namespace

HpaPod::Group group_pod(const HpaPodFacts& pod, bool cpu, const HpaReadiness& readiness, Instant now) {
  using Phase = HpaPodFacts::Phase;
  if (pod.deleting || pod.phase == Phase::failed) return Group::ignored;
  if (pod.phase == Phase::pending) return Group::unready;
  if (!pod.sampled) return Group::missing;
  if (!cpu) return Group::ready;
  if (!pod.ready || !pod.started_at) return Group::unready;
  const bool initializing = *pod.started_at + readiness.cpu_initialization > now;
  if (initializing) {
    // A sample whose window began before the pod was ready measures the pod's start.
    const bool early = pod.sampled_at < pod.ready_since + pod.sample_window;
    return !*pod.ready || early ? Group::unready : Group::ready;
  }
  const bool never_ready = *pod.started_at + readiness.initial_readiness_delay > pod.ready_since;
  return !*pod.ready && never_ready ? Group::unready : Group::ready;
}

HpaProposal propose_by_pods(std::span<const HpaPod> pods, std::int64_t target_milli, ReplicaCount current,
                            const HpaSettings& settings) {
  std::int64_t total = 0, samples = 0;
  each_sample(pods, [&](const HpaPod& pod) {
    total += pod.milli;
    ++samples;
  });
  HpaProposal proposal;
  proposal.replicas = current;
  if (samples == 0 || !some_pod_exists(pods)) return proposal;
  // HPA truncates the mean to an integer before it computes the ratio.
  const auto ratio = [&] { return static_cast<double>(total / samples) / static_cast<double>(target_milli); };
  proposal.valid = true;
  proposal.mean_milli = total / samples;
  proposal.ratio = ratio();
  propose(proposal, pods, current, settings, [&](bool up_with_unready) {
    // A missing pod counts as exactly on target on the way down and as idle otherwise. An unready pod counts as idle on
    // the way up and not at all on the way down.
    const std::int64_t missing = count(pods, Group::missing);
    if (proposal.ratio < 1.0) total += missing * target_milli;
    samples += missing + (up_with_unready ? count(pods, Group::unready) : 0);
    return Samples{samples, ratio()};
  });
  return proposal;
}

HpaProposal propose_by_utilization(std::span<const HpaPod> pods, std::int64_t target_percent, ReplicaCount current,
                                   const HpaSettings& settings) {
  HpaProposal proposal;
  proposal.replicas = current;
  const bool requests_known = std::ranges::all_of(
      pods, [](const HpaPod& pod) { return pod.group == Group::superfluous || pod.request_milli.has_value(); });
  // Memory is in 1/1000 bytes. A hundred times the sum, or the sum with assumed values, may not fit 64 bits.
  __int128 total = 0, requested = 0;
  std::int64_t matched = 0, samples = 0;
  each_sample(pods, [&](const HpaPod& pod) {
    ++samples;
    if (pod.group == Group::superfluous) return;  // its request is unknown, so the ratio excludes it
    total += pod.milli;
    requested += *pod.request_milli;
    ++matched;
  });
  if (!requests_known || !some_pod_exists(pods) || requested == 0) return proposal;

  proposal.valid = true;
  proposal.mean_milli = static_cast<std::int64_t>(total / matched);
  const auto percent = [&] {
    return static_cast<std::int64_t>(std::min<__int128>(total * 100 / requested, kMaxMilliHeld));
  };
  proposal.utilization_percent = percent();
  const auto ratio = [&] { return static_cast<double>(percent()) / static_cast<double>(target_percent); };
  proposal.ratio = ratio();
  propose(proposal, pods, current, settings, [&](bool up_with_unready) {
    // If the ratio is exactly 1, missing pods are left out.
    const std::int64_t fallback_percent = proposal.ratio < 1.0 ? std::max<std::int64_t>(100, target_percent) : 0;
    for (const HpaPod& pod : pods) {
      const bool missing = pod.group == Group::missing && proposal.ratio != 1.0;
      const bool unready = pod.group == Group::unready && up_with_unready;
      if (!missing && !unready) continue;
      if (missing) total += static_cast<__int128>(*pod.request_milli) * fallback_percent / 100;
      requested += *pod.request_milli;
      ++samples;
    }
    return Samples{samples, ratio()};
  });
  return proposal;
}

std::int64_t sum_for_value(std::span<const std::int64_t> items_milli) {
  std::int64_t sum = 0;
  for (const std::int64_t item : items_milli) {
    if (__builtin_add_overflow(sum, item, &sum) && item > 0) return kMaxMilliHeld;
  }
  return sum;
}

std::int64_t sum_for_average_value(std::span<const std::int64_t> items_milli) {
  std::int64_t sum = 0;
  for (const std::int64_t item : items_milli) {
    if (__builtin_add_overflow(sum, item, &sum) || sum < 0) return kMaxMilliHeld;
  }
  return sum;
}

HpaProposal propose_by_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount current,
                             std::optional<ReplicaCount> ready_pods, const HpaSettings& settings) {
  HpaProposal proposal;
  proposal.mean_milli = usage_milli;
  proposal.ratio = proposal.filled_ratio = static_cast<double>(usage_milli) / static_cast<double>(target_milli);
  proposal.within_tolerance = current != 0 && within(proposal.ratio, settings);
  proposal.replicas = current;
  proposal.valid = current == 0 || proposal.within_tolerance || ready_pods.has_value();
  if (proposal.within_tolerance || !proposal.valid) return proposal;
  proposal.replicas = hpa_ceil(current == 0 ? proposal.ratio : proposal.ratio * static_cast<double>(*ready_pods));
  return proposal;
}

HpaProposal propose_by_average_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount status_replicas,
                                     const HpaSettings& settings) {
  const auto usage = static_cast<double>(usage_milli);
  const auto target = static_cast<double>(target_milli);
  const auto replicas = static_cast<double>(status_replicas);
  HpaProposal proposal{.valid = true,
                       .mean_milli = 0,
                       .utilization_percent = 0,
                       .ratio = 0,
                       .filled_ratio = 0,
                       .within_tolerance = false,
                       .replicas = status_replicas};
  // A saturated sum is reported as it is because its mean is unknown.
  if (usage >= static_cast<double>(kMaxMilliHeld))
    proposal.mean_milli = kMaxMilliHeld;
  else if (status_replicas > 0)
    proposal.mean_milli = static_cast<std::int64_t>(std::ceil(usage / replicas));
  // Without replicas the ratio is infinite or NaN and therefore never within the tolerance.
  proposal.ratio = proposal.filled_ratio = usage / (target * replicas);
  proposal.within_tolerance = within(proposal.ratio, settings);
  if (!proposal.within_tolerance) proposal.replicas = hpa_ceil(usage / target);
  return proposal;
}

}  // namespace capstan::decide::scale
