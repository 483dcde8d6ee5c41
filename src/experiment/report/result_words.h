#pragma once

#include <cstdint>
#include <string>

#include "base/quantity.h"
#include "experiment/run/result.h"

namespace capstan::experiment {

/// Returns the paid GPU-minutes without work for any request: idle, asleep, held or unallocated.
std::int64_t idle_gpu_minutes(const RunResult& result);

/// Returns the invariants that the policy broke: "broken invariants: 12 gangs partly placed, 340 requests cut by
/// decisions". Empty if it broke none.
std::string broken_words(const RunResult& result);

/// Returns "78.27 USD", or the paid GPU time if no price is known.
std::string cost_words(const RunResult& result);

/// Returns the length of the run and its price per hour and month: " in 30 min (80.00 USD/h, 58,400 USD/month)". A
/// month has 730 such hours. The text follows `cost_words` in the first sentence of a report. The other sentences
/// compare runs of the same length.
std::string time_and_price_words(const RunResult& result);

/// Returns a price per hour and month: " (80.00 USD/h, 58,400 USD/month)"; empty if no price is known.
std::string price_words(MicroUsd per_hour);
/// Returns the price of a run in these words.
std::string price_words(const RunResult& result);

/// Returns "33 % less than", "4 % more than", "under 1 % more than" or, if both are equal in words, "as much as".
std::string cost_against(const RunResult& result, const RunResult& other);
/// Returns the same for two prices per hour, neither of which is 0.
std::string cost_against(MicroUsd price, MicroUsd other);

}  // namespace capstan::experiment
