#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "experiment/run/result.h"

namespace capstan::experiment {

/// The condition of a `--fail-on`, under which a result is not accepted: a figure, `<` or `>`, and a bound, such as
/// "met<99%". The bound has the unit in which the table prints the figure: percent with or without `%`, requests,
/// points, USD, times with unit.
struct Threshold {
  enum class Figure : std::uint8_t { met, unmet, score, usd, ttft_p99, tpot_p99, e2e_p99, disruptions, broken };
  Figure figure{};
  bool below = true;       ///< true: a figure below the bound fails; false: a figure above the bound fails
  std::int64_t bound = 0;  ///< bound in the unit of the figure: ppm, requests, 0.001 points, 1e-6 USD, us
  std::string text;        ///< the threshold as the user wrote it

  /// Returns the figure of the result, in the unit of `bound`; none if there was no request to measure.
  std::optional<std::int64_t> value(const RunResult& result) const;
  /// Returns true if the figure of the result is on the wrong side of the bound or was not measured.
  bool missed(const RunResult& result) const;
  /// Returns the exact figure of the result with its unit: "93.4%", "12.5 USD", "2.25s", or why there is none.
  std::string figure_text(const RunResult& result) const;
};

/// Parses the text of `--fail-on`.
Result<Threshold> parse_threshold(std::string_view text);

}  // namespace capstan::experiment
