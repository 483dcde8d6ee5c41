#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

// Numbers with a noun or a unit, for the sentences that people read. They are computed with integers only, so that
// every machine writes the same text.
namespace capstan {

/// Returns a number with its noun: "1 replica", "2 replicas", "19,366 requests".
std::string count_text(std::int64_t number, std::string_view one, std::string_view many);

inline constexpr std::int64_t kHoursPerMonth = 730;  ///< 365 days / 12

/// Returns the price of a month without cents, because the cost of one simulated hour is not that exact: "40,179".
std::string usd_per_month_text(MicroUsd per_hour);

/// Returns a duration with three digits, for a time that is compared with a bound: "6.83 ms", "230 ms", "1.52 s".
std::string three_digit_time_text(Duration duration);

}  // namespace capstan
