#include "decide/scale/capstan/budget.h"

#include <algorithm>
#include <cmath>

namespace capstan::decide::scale {
namespace {

// With a lower safety margin, the KV memory of an engine can overflow. The engine then preempts and recomputes
// sequences, and loses most of its throughput.
constexpr double kMinSafety = 1.0;
constexpr double kMaxSafety = 4.0;
/// Share of the error budget that observed misses may use. The rest is a reserve for misses that adjust no margin:
/// misses during a surge, misses before anything was learned, and first tokens that are late for other reasons than
/// queueing. On a day of DeepSeek-R1 traffic, three fifths of the misses occurred in surges.
constexpr double kSpentShare = 0.35;
constexpr double kSafetyPerMinute = 0.01;  // decrease per minute without misses
constexpr double kMaxSafetyRise = 0.25;    // largest increase per minute of misses
constexpr double kSlackPerMinute = 0.008;
constexpr double kMaxSlackRise = 0.16;
constexpr double kMaxSlack = 1.5;
constexpr double kIdleBelow = 0.4;  // utilization below which misses count as independent of the replica count
constexpr Duration kMissedMemory = std::chrono::minutes(10);
constexpr Duration kMissedKnown = std::chrono::minutes(2);

/// Returns the share of requests that miss even on mostly idle replicas; 0 if such replicas were not observed long
/// enough.
double misses_when_idle(const SloObservation& observed, CapstanMemory& memory) {
  const double before = static_cast<double>(memory.missed_when_idle_ppm) / 1e6;
  if (observed.utilization < kIdleBelow) {
    memory.idle_observed = std::min(memory.idle_observed + observed.since_last, kMissedMemory);
    const double part = in_seconds(observed.since_last) / std::max(in_seconds(memory.idle_observed), 1e-9);
    const double now = before + std::min(part, 1.0) * (observed.missed_share - before);
    memory.missed_when_idle_ppm = static_cast<std::int64_t>(now * 1e6);
  }
  return memory.idle_observed >= kMissedKnown ? static_cast<double>(memory.missed_when_idle_ppm) / 1e6 : 0;
}

}  // namespace

void adjust_safety_margins(const SloObservation& observed, CapstanMemory& memory) {
  const double allowed = std::max(kSpentShare * (1 - observed.target_share), 1e-4);
  const double unavoidable = misses_when_idle(observed, memory);
  const double avoidable =
      unavoidable > allowed ? std::max(observed.missed_share - unavoidable, 0.0) : observed.missed_share;
  const double excess = avoidable / allowed - 1;
  const double minutes = static_cast<double>(observed.since_last.count()) / 60e9;
  const double rise = std::min(kSafetyPerMinute * excess, kMaxSafetyRise) * minutes;
  const double safety = std::clamp(static_cast<double>(memory.safety_milli) / 1e3 + rise, kMinSafety, kMaxSafety);
  memory.safety_milli = std::llround(safety * 1e3);
  if (excess > 0 && !observed.as_planned) return;
  const double slack_rise = std::min(kSlackPerMinute * excess, kMaxSlackRise) * minutes;
  const double slack = std::clamp(static_cast<double>(memory.slack_ppm) / 1e6 + slack_rise, 0.0, kMaxSlack);
  memory.slack_ppm = static_cast<std::int64_t>(slack * 1e6);
}

}  // namespace capstan::decide::scale
