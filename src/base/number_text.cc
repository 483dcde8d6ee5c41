#include "base/number_text.h"

#include <array>
#include <string_view>

namespace capstan {
namespace {

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

std::string sign(std::int64_t value) { return value < 0 ? "-" : ""; }

std::string with_separators(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::uint64_t rounded_to(std::uint64_t value, std::uint64_t step) { return (value + step / 2) / step * step; }

/// Returns `value` / 10^`places` without zeros at its end.
std::string decimal(std::uint64_t value, int places) {
  std::string text = std::to_string(value);
  const auto fraction = static_cast<std::size_t>(places);
  if (text.size() <= fraction) text.insert(0, fraction + 1 - text.size(), '0');
  text.insert(text.size() - fraction, ".");
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Returns `step`, or a smaller power of ten if rounding to `step` would turn the value into 0.
std::uint64_t step_for(std::uint64_t value, std::uint64_t step) {
  while (step > 1 && value > 0 && value * 2 < step) step /= 10;
  return step;
}

/// Returns `value` / 10^`places` rounded to a multiple of `step`. A value that this would turn into 0 is rounded to a
/// smaller step.
std::string rounded(std::uint64_t value, std::uint64_t step, int places) {
  return decimal(rounded_to(value, step_for(value, step)), places);
}

}  // namespace

std::string grouped_text(std::int64_t number) { return sign(number) + with_separators(magnitude(number)); }

std::string decimal_text(std::int64_t thousandths) {
  const std::uint64_t value = magnitude(thousandths);
  const std::uint64_t tenths = rounded_to(value, 100);
  const bool looks_whole = tenths % 1000 == 0 && rounded_to(value, 10) != tenths;
  return sign(thousandths) + rounded(value, value < 1000 || looks_whole ? 10 : 100, 3);
}

std::string percent_text(std::int64_t millionths) {
  return sign(millionths) + rounded(magnitude(millionths), 1'000, 4) + " %";
}

std::string usd_text(MicroUsd amount) {
  constexpr std::uint64_t kCent = 10'000;
  const std::uint64_t value = magnitude(amount.count);
  if (value > 0 && value < kCent) {
    std::uint64_t step = 1;
    while (value / step >= 100) step *= 10;
    return sign(amount.count) + decimal(rounded_to(value, step), 6) + " USD";
  }
  const std::uint64_t cents = rounded_to(value, kCent) / kCent;
  std::string part = std::to_string(cents % 100);
  part.insert(0, 2 - part.size(), '0');
  return sign(amount.count) + with_separators(cents / 100) + "." + part + " USD";
}

std::string time_text(Duration duration) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  constexpr std::uint64_t kSecond = 1'000 * kMillisecond;
  struct Unit {
    std::uint64_t seconds;
    std::string_view name;
    std::uint64_t part_seconds;
    std::string_view part_name;
  };
  constexpr std::array<Unit, 3> kUnits = {
      {{86'400, " d", 3'600, " h"}, {3'600, " h", 60, " min"}, {60, " min", 1, " s"}}};

  const std::uint64_t ns = magnitude(duration.count());
  const std::string minus = sign(duration.count());
  if (ns == 0) return "0 s";
  if (ns < kSecond - kMillisecond / 20) return minus + rounded(ns, kMillisecond / 10, 6) + " ms";  // never "1000 ms"
  const std::uint64_t seconds = ns / kSecond;
  for (const Unit& unit : kUnits) {
    if (seconds < unit.seconds) continue;
    std::string text = minus + std::to_string(seconds / unit.seconds).append(unit.name);
    const std::uint64_t part = seconds % unit.seconds / unit.part_seconds;
    if (part > 0) text.append(" ").append(std::to_string(part)).append(unit.part_name);
    return text;
  }
  const std::uint64_t tenth = kSecond / 10;
  return minus + (seconds < 10 ? rounded(ns, kSecond / 100, 9) : decimal(ns / tenth, 1)) + " s";
}

}  // namespace capstan
