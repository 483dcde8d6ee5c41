#include "manifest/scalars.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace capstan::manifest {

namespace {

__extension__ typedef __int128 Wide;

/// The number digits × 10^-fraction_digits.
struct Decimal {
  std::int64_t digits = 0;
  int fraction_digits = 0;
};

/// Removes an unsigned decimal from the front of `text` and returns it.
std::optional<Decimal> take_decimal(std::string_view& text) {
  constexpr std::size_t kMaxDigits = 18;
  Decimal decimal;
  std::size_t used = 0;
  std::size_t digits = 0;
  bool point = false;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (++digits > kMaxDigits) return std::nullopt;
      decimal.digits = decimal.digits * 10 + (c - '0');
      if (point) ++decimal.fraction_digits;
    } else {
      break;
    }
  }
  if (digits == 0 || text[used - 1] == '.') return std::nullopt;
  text.remove_prefix(used);
  return decimal;
}

/// Returns decimal × unit / divisor, or nothing if it is not a whole number or does not fit into 64 bits.
std::optional<std::int64_t> scaled(const Decimal& decimal, std::int64_t unit, std::int64_t divisor = 1) {
  Wide denominator = divisor;
  for (int i = 0; i < decimal.fraction_digits; ++i) denominator *= 10;
  const Wide product = Wide{decimal.digits} * unit;
  if (product % denominator != 0) return std::nullopt;
  const Wide value = product / denominator;
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

using Unit = std::pair<std::string_view, std::int64_t>;

template <std::size_t N>
std::optional<std::int64_t> unit_of(const std::array<Unit, N>& units, std::string_view name) {
  for (const auto& [unit, value] : units) {
    if (unit == name) return value;
  }
  return std::nullopt;
}

constexpr std::array<Unit, 8> kTimes = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"min", 60'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"d", 86'400'000'000'000}}};
constexpr std::array<Unit, 10> kSizes = {{{"B", 1},
                                          {"kB", 1'000},
                                          {"KB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", 1ll << 10},
                                          {"MiB", 1ll << 20},
                                          {"GiB", 1ll << 30},
                                          {"TiB", 1ll << 40}}};
constexpr std::array<Unit, 4> kBits = {
    {{"bit", 1}, {"Mbit", 1'000'000}, {"Gbit", 1'000'000'000}, {"Tbit", 1'000'000'000'000}}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view take_word(std::string_view& text) {
  std::size_t used = 0;
  while (used < text.size() && is_letter(text[used])) ++used;
  const std::string_view word = text.substr(0, used);
  text.remove_prefix(used);
  return word;
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

}  // namespace

std::optional<std::int64_t> read_integer(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && text[i - 1] != '_' && text[i - 1] != '-';
    if (text[i] == '_' && between) continue;
    plain += text[i];
  }
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (code != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

std::optional<double> read_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<bool> read_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<Duration> read_duration(std::string_view text) {
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    const std::optional<Decimal> amount = take_decimal(text);
    if (!amount) return std::nullopt;
    skip_blanks(text);
    const std::optional<std::int64_t> unit = unit_of(kTimes, take_word(text));
    if (!unit) return std::nullopt;
    const std::optional<std::int64_t> part = scaled(*amount, *unit);
    if (!part || __builtin_add_overflow(total, *part, &total)) return std::nullopt;
    skip_blanks(text);
  }
  return Duration{total};
}

std::optional<Bytes> read_bytes(std::string_view text) {
  const std::optional<Decimal> amount = take_decimal(text);
  if (!amount) return std::nullopt;
  skip_blanks(text);
  const std::optional<std::int64_t> unit = unit_of(kSizes, text);
  if (!unit) return std::nullopt;
  const std::optional<std::int64_t> value = scaled(*amount, *unit);
  if (!value) return std::nullopt;
  return Bytes{*value};
}

std::optional<std::int64_t> read_bytes_per_second(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  std::string_view rest = text;
  const std::optional<Decimal> amount = take_decimal(rest);
  if (!amount) return std::nullopt;
  skip_blanks(rest);
  if (const std::optional<std::int64_t> bits = unit_of(kBits, rest)) return scaled(*amount, *bits, 8);
  const std::optional<Bytes> bytes = read_bytes(text);
  if (!bytes) return std::nullopt;
  return bytes->count;
}

std::optional<std::int64_t> read_share_ppm(std::string_view text) {
  const std::optional<Decimal> amount = take_decimal(text);
  if (!amount) return std::nullopt;
  skip_blanks(text);
  if (text == "%") return scaled(*amount, 10'000);
  if (text.empty()) return scaled(*amount, 1'000'000);
  return std::nullopt;
}

std::optional<MicroUsd> read_usd(std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  const std::optional<Decimal> amount = take_decimal(text);
  if (!amount || !text.empty()) return std::nullopt;
  const std::optional<std::int64_t> value = scaled(*amount, 1'000'000);
  if (!value) return std::nullopt;
  return MicroUsd{*value};
}

}  // namespace capstan::manifest
