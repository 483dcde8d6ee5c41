#pragma once

#include <chrono>
#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "workload/request.h"

// Between what a setting of a load may lie, ends included: for whoever reads one from a file and says so with its line,
// and for `find_fault`, by which a workload is refused.
namespace capstan::workload {

template <typename Value>
struct Bounds {
  Value min;
  Value max;
};

inline constexpr Bounds<double> kScale{1e-6, 1e5};
inline constexpr Bounds<Duration> kScaleJitter{{}, std::chrono::hours(1)};
inline constexpr Bounds<Duration> kDuration{std::chrono::seconds(1), kLongest};

/// Requests/s. A rate is 0 or one of these: below them there are years between requests.
inline constexpr Bounds<double> kRate{1e-6, 1e7};
inline constexpr Bounds<Duration> kRatePeriod{std::chrono::seconds(1), kLongest};
inline constexpr Bounds<Duration> kDiurnalPeriod{std::chrono::minutes(1), kLongest};
inline constexpr Bounds<Duration> kRateStart{{}, kLongest};
inline constexpr Bounds<Duration> kRateLength{{}, kLongest};  ///< of on and off: up to the period
inline constexpr Bounds<Duration> kRampLength{std::chrono::milliseconds(1), kLongest};  ///< and of a spike
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
