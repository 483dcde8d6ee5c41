#pragma once

#include <cstdint>
#include <string>

#include "base/quantity.h"
#include "base/time.h"

// Functions that format numbers for people. Every number in a printed sentence is formatted by them, so that it looks
// the same in a reason, an explanation and a report. They compute with integers only, so that every machine writes the
// same text.
namespace capstan {

/// Returns a whole number with separators: "19,366".
std::string grouped_text(std::int64_t number);

/// Returns `thousandths` / 1000 with at most one decimal: "3.4", "3". Two decimals are shown below 1 ("0.25"), and
/// where one decimal would round to a whole number ("4.04"). A number other than zero never looks like zero: "0.004".
std::string decimal_text(std::int64_t thousandths);

/// Returns `millionths` / 1,000,000 as a percentage with at most one decimal: "85 %", "99.5 %". A share that
/// this would round to zero gets more decimals: "0.002 %".
std::string percent_text(std::int64_t millionths);

/// Returns an amount with cents and separators: "2.40 USD", "1,043.90 USD". An amount below a cent is rounded to two
/// significant digits: "0.0025 USD".
std::string usd_text(MicroUsd amount);

/// Returns a duration with at most two units: "1 d 3 h", "2 min 9 s", "12.5 s", "1.62 s", "250 ms", "0 s".
/// Milliseconds are rounded to one decimal, and seconds below 10 s to two. A longer duration is truncated, so that
/// 59.99 s does not become "60 s"; below a minute it keeps one decimal.
std::string time_text(Duration duration);

}  // namespace capstan
