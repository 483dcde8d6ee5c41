#include "decide/scale/capstan/budget.h"

#include <algorithm>
#include <cmath>

namespace capstan::decide::scale {
namespace {

constexpr double kSafetyLeast =
    1.0;  // a queue that overflows is no small miss: engines that preempt lose most of what they do
constexpr double kSafetyMost = 4.0;
/// Of the budget. Waits in a queue are not all that makes a first token late, and what is missed in a surge teaches the
/// slack nothing: of a day of DeepSeek-R1 two fifths of the misses are seen where the slack is learned. Surges that
/// come before anything was learned take their part as well.
constexpr double kSpent = 0.35;
constexpr double kSafetyPerMinute = 0.01;  // that a minute without misses lowers it
constexpr double kSafetyRiseMost = 0.25;   // that a minute full of misses raises it
constexpr double kSlackPerMinute = 0.008;
constexpr double kSlackRiseMost = 0.16;
constexpr double kSlackMost = 1.5;
constexpr double kEmptyBelow = 0.4;  // of use: replicas that tell what emptiness does not mend
constexpr Duration kMissedMemory = std::chrono::minutes(10);
constexpr Duration kMissedKnown = std::chrono::minutes(2);

/// What empty replicas are known to miss; 0 where none were seen long enough.
double unmendable(const Spent& spent, CapstanMemory& memory) {
  const double before = static_cast<double>(memory.missed_empty_ppm) / 1e6;
  if (spent.use < kEmptyBelow) {
    memory.empty_seen = std::min(memory.empty_seen + spent.since_last, kMissedMemory);
    const double part = in_seconds(spent.since_last) / std::max(in_seconds(memory.empty_seen), 1e-9);
    const double now = before + std::min(part, 1.0) * (spent.missed_share - before);
    memory.missed_empty_ppm = static_cast<std::int64_t>(now * 1e6);
  }
  return memory.empty_seen >= kMissedKnown ? static_cast<double>(memory.missed_empty_ppm) / 1e6 : 0;
}

}  // namespace

void spend_budget(const Spent& spent, CapstanMemory& memory) {
  const double allowed = std::max(kSpent * (1 - spent.target_share), 1e-4);
  const double least = unmendable(spent, memory);
  const double mendable = least > allowed ? std::max(spent.missed_share - least, 0.0) : spent.missed_share;
  const double over = mendable / allowed - 1;
  const double minutes = static_cast<double>(spent.since_last.count()) / 60e9;
  const double rise = std::min(kSafetyPerMinute * over, kSafetyRiseMost) * minutes;
  const double safety = std::clamp(static_cast<double>(memory.safety_milli) / 1e3 + rise, kSafetyLeast, kSafetyMost);
  memory.safety_milli = std::llround(safety * 1e3);
  if (over > 0 && !spent.as_planned) return;
  const double slack_rise = std::min(kSlackPerMinute * over, kSlackRiseMost) * minutes;
  const double slack = std::clamp(static_cast<double>(memory.slack_ppm) / 1e6 + slack_rise, 0.0, kSlackMost);
  memory.slack_ppm = static_cast<std::int64_t>(slack * 1e6);
}

}  // namespace capstan::decide::scale
