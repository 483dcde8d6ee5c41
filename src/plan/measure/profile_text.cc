#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/measure/measured_load.h"
#include "workload/request.h"

namespace capstan::plan {

namespace {

/// Number of requests in the table of lengths. A profile draws its lengths from them without replacement.
constexpr double kTableRequests = 100'000;

/// Returns the mean of a range as a profile writes it, with at most three decimals, within the range.
double written_mean(const LengthRange& range) {
  const double rounded = std::floor(range.mean * 1000 + 0.5) / 1000;
  return std::clamp(rounded, static_cast<double>(range.low), static_cast<double>(range.high));
}

}  // namespace

std::string profile_text(const std::string& source, const RateSeries& rate, const LengthRanges& prompts,
                         const LengthRanges& answers) {
  std::string text = fmt::format("capstan-profile,1\nsource,{}\nduration_ms,{}\n", source,
                                 rate.length() / std::chrono::milliseconds(1));
  const std::vector<std::int64_t> minutes = requests_by_minute(rate);
  for (std::size_t i = 0; i < minutes.size(); ++i) text += fmt::format("minute,{},{}\n", i, minutes[i]);
  for (const LengthRange& prompt : prompts) {
    for (const LengthRange& answer : answers) {
      const auto count = static_cast<std::int64_t>(std::floor(prompt.share * answer.share * kTableRequests + 0.5));
      if (count == 0) continue;
      text += fmt::format("cell,{},{},{},{},{},{:.3f},{:.3f}\n", prompt.low, prompt.high, answer.low, answer.high,
                          count, written_mean(prompt), written_mean(answer));
    }
  }
  return text;
}

}  // namespace capstan::plan
