#include "decide/scale/capstan/forecast.h"

#include <algorithm>
#include <cmath>

namespace capstan::decide::scale {
namespace {

constexpr Duration kNear = std::chrono::seconds(60);
constexpr Duration kFar = std::chrono::seconds(240);
constexpr Duration kSpreadMemory = std::chrono::minutes(30);
constexpr double kTrendTrust = 1.0;
constexpr double kTrendMost = 0.5;  // of the level, over the horizon
constexpr double kSpreadFloor = 0.02;
constexpr double kSpreadMost = 1.0;
constexpr double kFirstSpread = 0.12;  // beyond what counting explains, before any forecast came due
constexpr double kFirstSafety = 1.6;
constexpr double kSafetyLeast =
    1.0;  // a queue that overflows is no small miss: engines that preempt lose most of what they do
constexpr double kSafetyMost = 4.0;
constexpr double kSafetyPerMinute = 0.01;  // that a minute without misses lowers it
constexpr double kSafetyRiseMost = 0.25;   // that a minute full of misses raises it
constexpr double kReplicasMost = 1e6;
constexpr Duration kSettled = std::chrono::minutes(2);  // until then the first requests are still being answered
constexpr std::array<double, CapstanMemory::kUses> kUseBelow = {0.4, 0.55, 0.7, 0.85, 1e9};
constexpr std::size_t kEmpty = 3;  // of these, the uses that tell what emptiness does not mend
constexpr Duration kMissedMemory = std::chrono::minutes(10);
constexpr Duration kMissedKnown = std::chrono::minutes(2);

double part(Duration since_last, Duration memory) {
  const double ratio = static_cast<double>(since_last.count()) / static_cast<double>(memory.count());
  return std::clamp(ratio / (1 + ratio), 0.0, 1.0);
}

std::int64_t as_milli(double replicas) {
  return static_cast<std::int64_t>(std::clamp(replicas, 0.0, kReplicasMost) * 1000.0);
}

double replicas(std::int64_t milli) { return static_cast<double>(milli) / 1000.0; }

/// Forecasts that came due are held against what there is.
void learn_spread(double demand, Duration since_last, CapstanMemory& memory, Instant now) {
  const auto due = [&](const CapstanMemory::Forecast& forecast) { return forecast.due <= now; };
  const auto last = std::ranges::find_if_not(memory.forecasts, due);
  if (last == memory.forecasts.begin()) return;
  const double expected = std::max(replicas(std::prev(last)->milli), 0.1);
  memory.forecasts.erase(memory.forecasts.begin(), std::prev(last));
  const double above = std::clamp((demand - expected) / expected, 0.0, kSpreadMost);
  const double spread = static_cast<double>(memory.spread_ppm) / 1e6;
  // Half of the errors are below: twice the upper half's mean square is the whole's.
  const double square = spread * spread + part(since_last, kSpreadMemory) * (2 * above * above - spread * spread);
  memory.spread_ppm = static_cast<std::int64_t>(std::sqrt(std::max(square, 0.0)) * 1e6);
}

}  // namespace

Outlook look_ahead(double demand, double noise, Duration horizon, Duration since_last, CapstanMemory& memory,
                   Instant now) {
  if (memory.near_milli == 0 && memory.far_milli == 0) {
    memory.near_milli = memory.far_milli = as_milli(demand);
    memory.safety_milli = as_milli(kFirstSafety);
    memory.spread_ppm = static_cast<std::int64_t>(std::sqrt(noise * noise + kFirstSpread * kFirstSpread) * 1e6);
  }
  double near = replicas(memory.near_milli);
  double far = replicas(memory.far_milli);
  near += part(since_last, kNear) * (demand - near);
  far += part(since_last, kFar) * (demand - far);
  // A jump is no trend: both means go along.
  const double jump = demand / std::max(near, 0.1);
  if (jump > 1.5 + 4 * noise) near = far = demand;
  memory.near_milli = as_milli(near);
  memory.far_milli = as_milli(far);
  learn_spread(demand, since_last, memory, now);

  const double slope = (near - far) / in_seconds(kFar - kNear);
  const double rise = std::clamp(slope * kTrendTrust * static_cast<double>(horizon.count()) * 1e-9, 0.0,
                                 kTrendMost * std::max(demand, near));
  Outlook out;
  out.forecast = std::max(demand, near) + rise;
  out.spread = std::max({static_cast<double>(memory.spread_ppm) / 1e6, kSpreadFloor});
  out.safety = replicas(memory.safety_milli);
  out.needed = std::min(out.forecast * (1 + out.safety * out.spread), kReplicasMost);

  const Duration apart = horizon / static_cast<std::int64_t>(CapstanMemory::kForecastsMost - 2);
  const bool next = memory.forecasts.empty() || memory.forecasts.back().due + apart <= now + horizon;
  if (next && memory.observed >= kSettled && memory.forecasts.size() < CapstanMemory::kForecastsMost) {
    memory.forecasts.push_back({now + horizon, as_milli(out.forecast)});
  }
  return out;
}

namespace {

/// The least that emptier replicas are known to miss; 0 where none were seen.
double unmendable(double missed_share, double use, Duration since_last, CapstanMemory& memory) {
  std::size_t at = 0;
  while (use >= kUseBelow[at] && at + 1 < kUseBelow.size()) ++at;
  CapstanMemory::Missed& now = memory.missed_by_use[at];
  now.seen = std::min(now.seen + since_last, kMissedMemory);
  const double before = static_cast<double>(now.ppm) / 1e6;
  const double by =
      now.seen > Duration{} ? static_cast<double>(since_last.count()) / static_cast<double>(now.seen.count()) : 1;
  now.ppm = static_cast<std::int64_t>((before + std::min(by, 1.0) * (missed_share - before)) * 1e6);
  std::int64_t least = -1;
  for (std::size_t i = 0; i < std::min(kEmpty, at + 1); ++i) {
    const CapstanMemory::Missed& row = memory.missed_by_use[i];
    if (row.seen >= kMissedKnown && (least < 0 || row.ppm < least)) least = row.ppm;
  }
  return least > 0 ? static_cast<double>(least) / 1e6 : 0;
}

}  // namespace

void spend_budget(double missed_share, double use, double target_share, Duration since_last, CapstanMemory& memory) {
  const double mendable = missed_share - unmendable(missed_share, use, since_last, memory);
  const double allowed = std::max(1 - target_share, 1e-4);
  const double minutes = static_cast<double>(since_last.count()) / 60e9;
  const double step = kSafetyPerMinute * minutes * (mendable / allowed - 1);
  const double safety = replicas(memory.safety_milli) + std::min(step, kSafetyRiseMost * minutes);
  memory.safety_milli = as_milli(std::clamp(safety, kSafetyLeast, kSafetyMost));
}

double most_needed(const CapstanMemory& memory, Instant since) {
  // Each entry holds until the next one: the last before the window is still in it.
  double most = 0;
  for (std::size_t i = 0; i < memory.needs.size(); ++i) {
    if (memory.needs[i].at >= since) most = std::max(most, replicas(memory.needs[i].milli));
  }
  return most;
}

void note_need(double needed, Duration longest, CapstanMemory& memory, Instant now) {
  std::erase_if(memory.needs, [&](const CapstanMemory::Need& need) { return need.at + longest < now; });
  const std::int64_t milli = as_milli(needed);
  while (!memory.needs.empty() && memory.needs.back().milli <= milli) memory.needs.pop_back();
  memory.needs.push_back({now, milli});
  if (memory.needs.size() > CapstanMemory::kNeedsMost) {
    // The oldest two become one: as much, for as long.
    memory.needs[1].milli = memory.needs[0].milli;
    memory.needs.erase(memory.needs.begin());
  }
}

}  // namespace capstan::decide::scale
