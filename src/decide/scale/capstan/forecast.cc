#include "decide/scale/capstan/forecast.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace capstan::decide::scale {
namespace {

// Assumed age of an observed rate. A reading is up to 15 s (one scrape interval) old, and its rate is the mean over the
// 15 s before the reading.
constexpr Duration kObservationDelay = std::chrono::seconds(20);
constexpr Duration kMinShortMean = std::chrono::seconds(30);  // two scrapes
constexpr Duration kMaxShortMean = std::chrono::seconds(60);
constexpr std::int64_t kLongPerShortMean = 4;
constexpr Duration kSpreadMemory = std::chrono::minutes(30);
constexpr double kTrendTrust = 1.0;
constexpr double kMaxTrend = 0.5;         // largest rise over the horizon, relative to the demand
constexpr double kMinDrift = 0.10;        // drift: relative change of the demand to assume over a horizon
constexpr double kDriftPerRoot = 0.08;    // drift per square root of a minute, for short horizons
constexpr double kDriftPerMinute = 0.05;  // drift per minute; longer answers alone can change the demand this fast
constexpr double kMaxForecastError = 1.0;
constexpr double kFirstForecastError = 0.12;  // spread in addition to noise until the first forecast is due
constexpr double kFirstSafety = 1.6;
constexpr double kMaxReplicas = 1e6;
constexpr Duration kSettlingTime = std::chrono::minutes(2);  // until then the first requests are still being answered

double part(Duration since_last, Duration memory) {
  const double ratio = static_cast<double>(since_last.count()) / static_cast<double>(memory.count());
  return std::clamp(ratio / (1 + ratio), 0.0, 1.0);
}

std::int64_t as_milli(double replicas) {
  return static_cast<std::int64_t>(std::clamp(replicas, 0.0, kMaxReplicas) * 1000.0);
}

double replicas(std::int64_t milli) { return static_cast<double>(milli) / 1000.0; }

/// Compares the demand with the forecast that came due last, and updates the spread of the forecast errors.
void learn_forecast_error(double demand, Duration since_last, CapstanMemory& memory, Instant now) {
  const auto due = [&](const CapstanMemory::Forecast& forecast) { return forecast.due <= now; };
  const auto last = std::ranges::find_if_not(memory.forecasts, due);
  if (last == memory.forecasts.begin()) return;
  const double expected = std::max(replicas(std::prev(last)->milli), 0.1);
  memory.forecasts.erase(memory.forecasts.begin(), std::prev(last));
  const double above = std::clamp((demand - expected) / expected, 0.0, kMaxForecastError);
  const double spread = static_cast<double>(memory.forecast_error_ppm) / 1e6;
  // Only demand above the forecast counts as an error. This is about half of all errors, so its square counts twice.
  const double square = spread * spread + part(since_last, kSpreadMemory) * (2 * above * above - spread * spread);
  memory.forecast_error_ppm = static_cast<std::int64_t>(std::sqrt(std::max(square, 0.0)) * 1e6);
}

/// Returns the deviation to expect over a horizon: the measured one, at least a typical drift.
double spread_of(const CapstanMemory& memory, Duration horizon) {
  const double minutes = std::clamp(in_seconds(horizon) / 60.0, 0.0, 10.0);
  const double drift = std::max({kMinDrift, kDriftPerMinute * minutes, kDriftPerRoot * std::sqrt(minutes)});
  return std::max(static_cast<double>(memory.forecast_error_ppm) / 1e6, drift);
}

}  // namespace

double safety_margin(const CapstanMemory& memory, Duration horizon) {
  const double slack = static_cast<double>(memory.slack_ppm) / 1e6;
  // Forecast errors and interference between requests are independent, so the squares of their margins are added.
  const double for_errors = replicas(memory.safety_milli) * spread_of(memory, horizon);
  return std::sqrt(slack * slack + for_errors * for_errors);
}

Outlook look_ahead(double demand, double noise, Duration horizon, Duration since_last, CapstanMemory& memory,
                   Instant now) {
  if (memory.short_mean_milli == 0 && memory.long_mean_milli == 0) {
    memory.short_mean_milli = memory.long_mean_milli = as_milli(demand);
    memory.safety_milli = as_milli(kFirstSafety);
    memory.forecast_error_ppm =
        static_cast<std::int64_t>(std::sqrt(noise * noise + kFirstForecastError * kFirstForecastError) * 1e6);
  }
  // The longer the lead time, the longer a rise must last before the forecast follows it. For a lead time of half a
  // minute, two minutes of history suffice.
  const Duration near_memory = std::clamp<Duration>((horizon + kObservationDelay) / 2, kMinShortMean, kMaxShortMean);
  const Duration far_memory = kLongPerShortMean * near_memory;
  double near = replicas(memory.short_mean_milli);
  double far = replicas(memory.long_mean_milli);
  near += part(since_last, near_memory) * (demand - near);
  far += part(since_last, far_memory) * (demand - far);
  // A jump is not a trend: both means follow at once.
  const double jump = demand / std::max(near, 0.1);
  if (jump > 1.5 + 4 * noise) near = far = demand;
  memory.short_mean_milli = as_milli(near);
  memory.long_mean_milli = as_milli(far);
  learn_forecast_error(demand, since_last, memory, now);

  const double slope = (near - far) / in_seconds(far_memory - near_memory);
  const double rise = std::clamp(slope * kTrendTrust * in_seconds(horizon + kObservationDelay), 0.0,
                                 kMaxTrend * std::max(demand, near));
  Outlook out;
  out.forecast = std::max(demand, near) + rise;
  out.forecast_error = spread_of(memory, horizon);
  out.safety = replicas(memory.safety_milli);
  out.slack = static_cast<double>(memory.slack_ppm) / 1e6;
  out.needed = std::min(out.forecast * (1 + safety_margin(memory, horizon)), kMaxReplicas);

  const Duration interval = horizon / static_cast<std::int64_t>(CapstanMemory::kMaxForecasts - 2);
  const bool next = memory.forecasts.empty() || memory.forecasts.back().due + interval <= now + horizon;
  if (next && memory.observed >= kSettlingTime && memory.forecasts.size() < CapstanMemory::kMaxForecasts) {
    memory.forecasts.push_back({now + horizon, as_milli(out.forecast)});
  }
  return out;
}

double highest_need(const CapstanMemory& memory, Instant since) {
  // Each entry is the highest need since the previous entry, so the first entry that counts may include earlier needs.
  double most = 0;
  for (const CapstanMemory::NeedPeak& need : memory.need_peaks) {
    if (need.at >= since) most = std::max(most, replicas(need.milli));
  }
  return most;
}

namespace {

/// Returns the length of the blocks into which entries of this age are merged, in seconds; a power of two.
std::int64_t block_s(Duration age) {
  const std::int64_t quarter = age / std::chrono::seconds(4);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(quarter, 1))));
}

/// Merges the entries of each block into one with the highest value and the latest time. A block is longer for older
/// entries, but at most a quarter of their age. A merged entry therefore looks younger by at most a quarter of its age,
/// and a steady decline over an hour fits into the list.
void merge_blocks(std::vector<CapstanMemory::NeedPeak>& needs, Instant now) {
  std::size_t count = 0;
  for (const CapstanMemory::NeedPeak& need : needs) {
    if (count > 0) {
      CapstanMemory::NeedPeak& last = needs[count - 1];
      const Duration block = std::chrono::seconds(block_s(now - last.at));
      if (last.at.since_start / block == need.at.since_start / block) {
        last.at = need.at;
        continue;
      }
    }
    needs[count++] = need;
  }
  needs.resize(count);
}

}  // namespace

void record_need(double needed, Duration longest, CapstanMemory& memory, Instant now) {
  std::erase_if(memory.need_peaks, [&](const CapstanMemory::NeedPeak& need) { return need.at + longest < now; });
  const std::int64_t milli = as_milli(needed);
  while (!memory.need_peaks.empty() && memory.need_peaks.back().milli <= milli) memory.need_peaks.pop_back();
  memory.need_peaks.push_back({now, milli});
  merge_blocks(memory.need_peaks, now);
  if (memory.need_peaks.size() > CapstanMemory::kMaxNeeds) {
    // The two oldest entries become one, with the higher value and the later time.
    memory.need_peaks[1].milli = memory.need_peaks[0].milli;
    memory.need_peaks.erase(memory.need_peaks.begin());
  }
}

}  // namespace capstan::decide::scale
