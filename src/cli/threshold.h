#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "experiment/result.h"

namespace capstan::cli {

/// What a user will not accept: `--fail-on "met<99%"`. A figure, `<` or `>`, and a bound in the unit that the table
/// prints the figure in: percent with or without `%`, requests, points, USD, times with their unit.
struct Threshold {
  enum class Figure : std::uint8_t { met, unmet, score, usd, ttft_p99, tpot_p99, e2e_p99, disruptions, broken };
  Figure figure{};
  bool below = true;       ///< fails below the bound, else above it
  std::int64_t bound = 0;  ///< ppm, requests, thousandths of a point, micro-USD, us, counts
  std::string text;        ///< as it was written

  std::int64_t value(const experiment::RunResult& result) const;
  bool missed(const experiment::RunResult& result) const;
  /// What the result has, exact, in the unit of a bound: "93.4%", "12.5 USD", "2.25s".
  std::string found(const experiment::RunResult& result) const;
};

Result<Threshold> parse_threshold(std::string_view text);

}  // namespace capstan::cli
