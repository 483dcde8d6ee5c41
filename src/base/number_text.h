#pragma once

#include <cstdint>
#include <string>

#include "base/quantity.h"
#include "base/time.h"

// Numbers as people read them. Everything that is printed in a sentence uses these functions, so that one number looks
// the same in a reason, an explanation and a report. They compute with integers only, so that every machine writes the
// same text.
namespace capstan {

/// Returns a whole number with separators: "19,366".
std::string grouped_text(std::int64_t number);

/// Returns thousandths with one decimal: "3.4", "3". Numbers below 1 have two decimals: "0.25". So do numbers that one
/// decimal would round to a whole number: "4.04". A number that is not zero never looks like zero: "0.004".
std::string decimal_text(std::int64_t thousandths);

/// Returns millionths as a percentage with at most one decimal: "85 %", "99.5 %". A share below 0.1 % keeps its first
/// digit: "0.002 %".
std::string percent_text(std::int64_t millionths);

/// Returns an amount with cents and separators: "2.40 USD", "1,043.90 USD". Less than a cent has its first two
/// digits: "0.0025 USD".
std::string usd_text(MicroUsd amount);

/// Returns a duration with at most two units: "1 d 3 h", "2 min 9 s", "12.5 s", "1.62 s", "250 ms", "0 s". Below 10 s
/// it is rounded to two decimals. A longer duration is cut off and not rounded, so that 59.99 s does not become "60 s".
/// Below a minute it has one decimal.
std::string time_text(Duration duration);

}  // namespace capstan
