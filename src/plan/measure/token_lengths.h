#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "plan/spec/spec.h"
#include "signals/prometheus_api.h"

// Lengths of prompts or answers as a table of ranges.
namespace capstan::plan {

/// The requests whose length is in a range of tokens.
struct LengthRange {
  std::int32_t low = 1;   ///< first length
  std::int32_t high = 1;  ///< last length
  double mean = 1;        ///< mean length within the range
  double share = 0;       ///< share of all requests, 0 to 1
};
using LengthRanges = std::vector<LengthRange>;

/// Reads the buckets of a histogram from the answer to `sum by (le) (increase(NAME_bucket[...]))`. A histogram does not
/// say where in its bucket a length lies. Therefore every range has its mean at the same relative position, chosen so
/// that the mean of all requests is the measured one, as far as the ranges allow.
/// @param sum  answer for the sum of all lengths, from which the mean follows; without a value, the middle is used
/// @return the ranges, or an error message: no requests, or no bucket le="+Inf"
std::expected<LengthRanges, std::string> ranges_of_histogram(const signals::ApiAnswer& buckets,
                                                             const signals::ApiAnswer& sum);

/// Returns the ranges of a log-normal distribution.
LengthRanges ranges_of(const TokenSpec& tokens);

double mean_length(const LengthRanges& ranges);
/// Returns the length that a share of the requests does not exceed.
std::int32_t length_quantile(const LengthRanges& ranges, double share);

}  // namespace capstan::plan
