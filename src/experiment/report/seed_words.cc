#include "experiment/report/seed_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unit_text.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

/// Returns "95.2 to 99.4 % met".
std::string met_range_words(const SeedCheck& check) {
  const auto [least, most] = std::ranges::minmax(check.outcomes, {}, &SeedOutcome::attainment_ppm);
  const std::string low = share_text(least.attainment_ppm), high = share_text(most.attainment_ppm);
  return low == high ? high + " met" : fmt::format("{} to {} met", low.substr(0, low.find(' ')), high);
}

/// Returns " for 94.15 to 126.28 USD".
std::string cost_range_words(const SeedCheck& check) {
  const auto [least, most] = std::ranges::minmax(check.outcomes, {}, &SeedOutcome::micro_usd);
  if (least.micro_usd <= 0) return "";
  const std::string low = usd(least.micro_usd), high = usd(most.micro_usd);
  return low == high ? fmt::format(" for {} USD", high) : fmt::format(" for {} to {} USD", low, high);
}

}  // namespace

std::string seeds_words(const SeedCheck& check) {
  return fmt::format("{} to {}", check.outcomes.front().seed, check.outcomes.back().seed);
}

std::string average_words(const SeedCheck& check) {
  const MicroUsd per_hour = check.mean_per_hour();
  if (per_hour.count <= 0) return "";
  return fmt::format("on average {} USD/h ({} USD/month)", usd(per_hour.count), usd_per_month_text(per_hour));
}

std::string held_words(const SeedCheck& check) {
  return fmt::format("with {} of them ({})", check.held() == 0 ? "none" : std::to_string(check.held()),
                     met_range_words(check));
}

std::string outcomes_words(const SeedCheck& check) {
  const std::string text = met_range_words(check) + cost_range_words(check);
  const std::string average = average_words(check);
  return average.empty() ? text : text + ", " + average;
}

}  // namespace capstan::experiment
