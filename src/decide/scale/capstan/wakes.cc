#include "decide/scale/capstan/wakes.h"

#include <algorithm>

#include "decide/scale/capstan/step.h"

namespace capstan::decide::scale {
namespace {

using Episode = CapstanMemory::Episode;

constexpr Duration kMinIdle = std::chrono::minutes(10);
constexpr Duration kRemembered = std::chrono::days(7);  // episodes are forgotten after this time
constexpr double kWakesShare = 0.5;  // part of the error budget for wakes; the rest is for misses while replicas serve
constexpr double kMaxCountedRequests = 1e12;
// Longest time between the first requests of an episode and the reading that shows them: one scrape interval.
constexpr Duration kFirstSeen = std::chrono::seconds(15);

std::int64_t thousandths(double value) {
  return static_cast<std::int64_t>(std::clamp(value, 0.0, kMaxCountedRequests) * 1000.0 + 0.5);
}

/// Clamps a count from a saved memory, which may hold any number, so that no sum overflows.
std::int64_t requests_milli(std::int64_t saved) {
  return std::clamp<std::int64_t>(saved, 0, thousandths(kMaxCountedRequests));
}

/// Returns the number of early requests of an episode, in thousandths. It is at least 1000, because one request caused
/// the wake.
std::int64_t early_milli(const Episode& episode) {
  return std::max<std::int64_t>(requests_milli(episode.early_milli), 1000);
}

/// Returns the replicas that would have served the early requests of an episode.
ReplicaCount replicas_for_early(const Episode& episode) {
  return whole_replicas(static_cast<double>(episode.peak_milli) / 1000.0);
}

}  // namespace

Duration sleeps_after(Duration lead) { return std::max<Duration>(kMinIdle, 4 * lead); }

Duration late_for(const model::Slo& slo, Duration lead) {
  const Duration bound = slo.ttft > Duration{} ? slo.ttft : slo.e2e;
  return bound > Duration{} ? std::max(lead - bound, Duration{}) : Duration{};
}

void record_arrivals(const NewLoad& load, CapstanMemory& memory, Instant now) {
  std::vector<Episode>& episodes = memory.episodes;
  const bool begins = episodes.empty() || now - memory.last_used >= load.sleeps_after;
  if (begins) {
    // A saved memory may hold more than the limit.
    while (episodes.size() >= CapstanMemory::kMaxEpisodes) episodes.erase(episodes.begin());
    episodes.push_back({.began = now, .ended = now});
  }
  Episode& episode = episodes.back();
  episode.ended = now;
  const std::int64_t before = requests_milli(episode.requests_milli);
  episode.requests_milli = std::min(before + thousandths(load.requests), thousandths(kMaxCountedRequests));
  if (now - episode.began > load.late_for) return;
  // Requests that still wait are added, because `requests_milli` counts a prompt only once it is computed, and that is
  // after the start from zero.
  const std::int64_t arrived = episode.requests_milli + thousandths(load.queued);
  episode.early_milli = std::max(episode.early_milli, arrived);
  const double per_s = static_cast<double>(arrived) / 1000.0 / in_seconds(now - episode.began + kFirstSeen);
  episode.peak_milli = std::max(episode.peak_milli, thousandths(std::min(per_s * load.request_s, 1e6)));
}

WarmSizing minimum_warm(const CapstanMemory& memory, double target, Duration late_for, Instant now) {
  std::vector<Episode> known;
  for (const Episode& episode : memory.episodes) {
    if (now - episode.ended <= kRemembered) known.push_back(episode);
  }
  // The episodes are sorted by the number of replicas that they need, because n warm replicas cover all episodes that
  // need at most n.
  std::ranges::stable_sort(known, {}, replicas_for_early);
  WarmSizing warm;
  warm.late_for = late_for;
  warm.wakes = std::ssize(known);
  __int128 late = 0, served = 0;
  for (const Episode& episode : known) {
    served += std::max(requests_milli(episode.requests_milli), early_milli(episode));
    if (late_for > Duration{}) late += early_milli(episode);
  }
  const double allowed = static_cast<double>(served) * std::max(1 - target, 0.0) * kWakesShare;
  warm.requests = static_cast<RequestCount>(served / 1000);
  warm.requests_late = std::min(static_cast<RequestCount>((late + 999) / 1000), warm.requests);
  warm.requests_allowed = static_cast<std::int64_t>(allowed / 1000.0 + 1e-9);
  for (auto next = known.begin(); next != known.end() && static_cast<double>(late) > allowed;) {
    warm.replicas = replicas_for_early(*next);
    for (; next != known.end() && replicas_for_early(*next) == warm.replicas; ++next) late -= early_milli(*next);
  }
  return warm;
}

}  // namespace capstan::decide::scale
