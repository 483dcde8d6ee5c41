#include "experiment/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/number_text.h"
#include "base/unit_text.h"

namespace capstan::experiment {

namespace {

constexpr std::int64_t kMicroUsd = 1'000'000;

}  // namespace

std::string tenths(std::int64_t number, std::int64_t unit) {
  const std::int64_t tenth = (number * 10 + unit / 2) / unit;
  return fmt::format("{}.{}", grouped_text(tenth / 10), tenth % 10);
}

std::string share_text(std::int64_t ppm) {
  constexpr std::int64_t kWhole = 1'000'000, kTenth = 1'000;  // 100 % and 0.1 %, in millionths
  const bool is_part = ppm > 0 && ppm < kWhole;
  return tenths(is_part ? std::clamp(ppm, kTenth, kWhole - kTenth) : ppm, 10 * kTenth) + " %";
}

std::string seconds(std::int64_t microseconds) {
  if (microseconds < 9'995'000) {
    const std::int64_t hundredths = (microseconds + 5'000) / 10'000;
    return fmt::format("{}.{:02} s", hundredths / 100, hundredths % 100);
  }
  if (microseconds < 99'950'000) return tenths(microseconds, 1'000'000) + " s";
  return grouped_text((microseconds + 500'000) / 1'000'000) + " s";
}

std::string milliseconds(std::int64_t microseconds) { return tenths(microseconds, 1000) + " ms"; }

std::string usd(std::int64_t micro_usd) {
  constexpr std::int64_t kMicroUsdPerCent = kMicroUsd / 100;
  if (micro_usd == std::numeric_limits<std::int64_t>::max()) return "over " + grouped_text(micro_usd / kMicroUsd);
  const std::int64_t cents = micro_usd / kMicroUsdPerCent + (micro_usd % kMicroUsdPerCent) / (kMicroUsdPerCent / 2);
  return fmt::format("{}.{:02}", grouped_text(cents / 100), cents % 100);
}

std::string gpu_hours(GpuNanoseconds time) { return tenths(static_cast<std::int64_t>(time / 1'000'000), 3'600'000); }

std::string clock(Instant at) {
  const std::int64_t seconds = at.since_start.count() / 1'000'000'000;
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kBare = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:,=+%@";
  if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) return word;
  if (word.find_first_of("\"$`\\!") == std::string::npos) return '"' + word + '"';
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string variant_name(const model::Catalog& catalog, const model::Service& service) {
  const model::Workload& workload = service.workload;
  return catalog.services.size() > 1 && workload.role == model::Role::both ? workload.name : std::string();
}

}  // namespace capstan::experiment
