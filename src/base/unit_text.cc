#include "base/unit_text.h"

#include "base/number_text.h"

namespace capstan {
namespace {

/// Returns `thousandths` / 1000 without zeros at its end.
std::string decimal_of_thousandths(std::int64_t thousandths) {
  std::string text = std::to_string(thousandths / 1000);
  std::string fraction = std::to_string(1000 + thousandths % 1000).substr(1);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  return fraction.empty() ? text : text.append(".").append(fraction);
}

}  // namespace

std::string count_text(std::int64_t number, std::string_view one, std::string_view many) {
  return grouped_text(number).append(" ").append(number == 1 ? one : many);
}

std::string usd_per_month_text(MicroUsd per_hour) {
  constexpr std::int64_t kUsd = 1'000'000;
  const __int128 month = static_cast<__int128>(per_hour.count) * kHoursPerMonth;
  return grouped_text(static_cast<std::int64_t>((month + (month < 0 ? -kUsd : kUsd) / 2) / kUsd));
}

std::string three_digit_time_text(Duration duration) {
  constexpr std::int64_t kMicrosecond = 1'000, kSecond = 1'000'000'000;
  const std::int64_t ns = duration.count() < 0 ? -duration.count() : duration.count();
  std::int64_t step = kMicrosecond;
  while (ns / step >= 1000) step *= 10;
  const std::int64_t shown = (ns + step / 2) / step * step;
  const bool is_short = shown < kSecond;
  const std::int64_t thousandths = shown / (is_short ? kMicrosecond : kMicrosecond * 1000);
  return (duration.count() < 0 ? "-" : "") + decimal_of_thousandths(thousandths) + (is_short ? " ms" : " s");
}

}  // namespace capstan
