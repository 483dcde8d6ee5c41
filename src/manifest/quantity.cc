#include "manifest/quantity.h"

#include <limits>

namespace capstan::manifest {
namespace {

/// Largest number of digits in a quantity, more than any Kubernetes quantity needs.
constexpr std::size_t kDigitsMax = 40;

struct Scale {
  int power_of_ten = 0;
  int power_of_two = 0;
};

struct Suffix {
  std::string_view text;
  Scale scale;
};

constexpr Suffix kSuffixes[] = {
    {"", {}},        {"n", {-9, 0}},  {"u", {-6, 0}},  {"m", {-3, 0}},  {"k", {3, 0}},   {"M", {6, 0}},
    {"G", {9, 0}},   {"T", {12, 0}},  {"P", {15, 0}},  {"E", {18, 0}},  {"Ki", {0, 10}}, {"Mi", {0, 20}},
    {"Gi", {0, 30}}, {"Ti", {0, 40}}, {"Pi", {0, 50}}, {"Ei", {0, 60}},
};

/// Parses a suffix: empty, a unit such as "Gi", or an exponent such as "e3".
std::optional<Scale> read_suffix(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (text == suffix.text) return suffix.scale;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  int power = 0;
  if (text.empty() || text.size() > 3) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    power = power * 10 + (c - '0');
  }
  return Scale{negative ? -power : power, 0};
}

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

/// Returns value * 10^power, rounded up and at most kLargest.
std::int64_t times_ten_to(unsigned __int128 value, int power) {
  for (; power > 0 && value != 0; --power) {
    if (value > static_cast<unsigned __int128>(kLargest)) return kLargest;
    value *= 10;
  }
  bool has_remainder = false;
  for (; power < 0 && value != 0; ++power) {
    has_remainder = has_remainder || value % 10 != 0;
    value /= 10;
  }
  value += has_remainder ? 1 : 0;
  return value > static_cast<unsigned __int128>(kLargest) ? kLargest : static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::int64_t> read_quantity_milli(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  // The quantity times 1000 is digits * 10^power, apart from its suffix. Digits that do not fit are dropped.
  unsigned __int128 digits = 0;
  int power = 3;
  std::size_t count = 0;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size() && ((text[at] >= '0' && text[at] <= '9') || (text[at] == '.' && !point)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    if (++count > kDigitsMax) return std::nullopt;
    if (digits < static_cast<unsigned __int128>(kLargest)) {
      digits = digits * 10 + static_cast<unsigned>(text[at] - '0');
      power -= point ? 1 : 0;
    } else {
      power += point ? 0 : 1;
    }
  }
  const std::optional<Scale> scale = read_suffix(text.substr(at));
  if (count == 0 || !scale) return std::nullopt;
  // The digits are below 2^67 and the scale is at most 2^60, so the product fits into 128 bits.
  const std::int64_t milli = times_ten_to(digits << scale->power_of_two, power + scale->power_of_ten);
  return negative ? -milli : milli;
}

}  // namespace capstan::manifest
