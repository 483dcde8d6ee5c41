#pragma once

#include <chrono>
#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "workload/request.h"

// Limits of the settings of a load, both ends included. `find_fault` refuses a workload that violates them, except for
// `kStart`, which it does not check. Readers of settings from files use the same limits, so that they can report the
// line.
namespace capstan::workload {

template <typename Value>
struct Bounds {
  Value min;
  Value max;
};

inline constexpr Bounds<double> kScale{1e-6, 1e5};
inline constexpr Bounds<Duration> kScaleJitter{{}, std::chrono::hours(1)};
inline constexpr Bounds<Duration> kDuration{std::chrono::seconds(1), kLongest};
inline constexpr Bounds<Duration> kStart{Duration{}, kLongest};

/// Requests/s. A rate is 0 or inside these bounds; a smaller rate would leave weeks between requests.
inline constexpr Bounds<double> kRate{1e-6, 1e7};
inline constexpr Bounds<Duration> kRatePeriod{std::chrono::seconds(1), kLongest};
inline constexpr Bounds<Duration> kDiurnalPeriod{std::chrono::minutes(1), kLongest};
inline constexpr Bounds<Duration> kRateStart{{}, kLongest};
inline constexpr Bounds<Duration> kRateLength{{}, kLongest};  ///< "on" part of on_off; also at most the period
inline constexpr Bounds<Duration> kRampLength{std::chrono::milliseconds(1), kLongest};  ///< length of a ramp or spike
inline constexpr Bounds<Duration> kRateStep{std::chrono::milliseconds(1), kLongest};

inline constexpr Bounds<double> kArrivalShape{0.1, 100};
inline constexpr Bounds<std::int32_t> kTokens{1, kMaxTokens};
inline constexpr Bounds<double> kSigma{0, 10};

inline constexpr Bounds<double> kTurnsMean{1, 1000};
inline constexpr Bounds<Duration> kTurnGapMean{{}, std::chrono::hours(24)};

inline constexpr Bounds<std::int64_t> kConcurrency{1, 1'000'000};
inline constexpr Bounds<Duration> kThinkTime{{}, std::chrono::hours(24)};
inline constexpr Bounds<RequestCount> kClosedLoopRequests{1, 1'000'000'000};

}  // namespace capstan::workload
