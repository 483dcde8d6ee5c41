#include "base/cron.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/split.h"

namespace capstan {
namespace {

constexpr std::string_view kMonths[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                        "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::string_view kWeekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct Field {
  std::string_view name;
  unsigned min = 0;
  unsigned max = 0;
  unsigned end = max;  ///< last value of `*` and of `a/step`; 6 for weekdays, so that Sunday counts once
  std::span<const std::string_view> words{};  ///< names of the values from `min` on
};
constexpr std::array<Field, 5> kFields = {{{"minute", 0, 59},
                                           {"hour", 0, 23},
                                           {"day of the month", 1, 31},
                                           {"month", 1, 12, 12, kMonths},
                                           {"day of the week", 0, 7, 6, kWeekdays}}};

constexpr std::pair<std::string_view, std::string_view> kShortcuts[] = {
    {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}};

constexpr std::int64_t kMinutesOfDay = 24 * 60;

std::optional<unsigned> value_of(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.words.size(); ++i) {
    if (equal_any_case(text, field.words[i])) return field.min + static_cast<unsigned>(i);
  }
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= field.min && value <= field.max ? std::optional(value) : std::nullopt;
}

/// Parses one entry of a list: `*`, `a` or `a-b`, each also with `/step`.
std::optional<std::uint64_t> bits_of(const Field& field, std::string_view entry) {
  const std::vector<std::string_view> stepped = split(entry, '/');
  if (stepped.size() > 2) return std::nullopt;
  unsigned step = 1;
  if (stepped.size() == 2) {
    const Field steps{.name = "step", .min = 1, .max = field.max};
    const std::optional<unsigned> parsed_step = value_of(steps, stepped[1]);
    if (!parsed_step) return std::nullopt;
    step = *parsed_step;
  }
  unsigned from = field.min, to = field.end;
  if (stepped[0] != "*") {
    const std::vector<std::string_view> range = split(stepped[0], '-');
    const std::optional<unsigned> begin = value_of(field, range[0]);
    const std::optional<unsigned> end = value_of(field, range.back());
    if (range.size() > 2 || !begin || !end || *begin > *end) return std::nullopt;
    from = *begin;
    const bool is_open_range = range.size() == 1 && stepped.size() == 2;  // `a/step` has no end
    to = is_open_range ? std::max(from, field.end) : *end;
  }
  std::uint64_t bits = 0;
  for (unsigned value = from; value <= to; value += step) bits |= 1ULL << value;
  return bits;
}

Result<std::uint64_t> read(const Field& field, std::string_view text) {
  std::uint64_t all = 0;
  for (const std::string_view entry : split(text, ',')) {
    const std::optional<std::uint64_t> bits = bits_of(field, entry);
    if (!bits) {
      return std::unexpected(Error::about("", std::string(field.name) + " is \"" + std::string(text) + "\", expected " +
                                                  std::to_string(field.min) + " to " + std::to_string(field.max) +
                                                  ", ranges, lists or steps of these, or *"));
    }
    all |= *bits;
  }
  return all;
}

}  // namespace

Result<Cron> Cron::parse(std::string_view text) {
  std::string expanded(text);
  for (const auto& [word, meaning] : kShortcuts) {
    if (equal_any_case(text, word)) expanded = meaning;
  }
  std::ranges::replace(expanded, '\t', ' ');
  std::vector<std::string_view> fields = split(expanded, ' ');
  std::erase(fields, std::string_view());
  if (fields.size() != kFields.size()) {
    return std::unexpected(Error::about("", "schedule \"" + std::string(text) + "\" has " +
                                                std::to_string(fields.size()) +
                                                " fields, expected minute, hour, day of the month, month and day of "
                                                "the week, such as \"0 8 * * 1-5\", or a word such as @daily"));
  }
  Cron cron;
  cron.text_ = text;
  std::uint64_t* const bits[] = {&cron.minutes_, &cron.hours_, &cron.days_, &cron.months_, &cron.weekdays_};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    const Result<std::uint64_t> read_bits = read(kFields[i], fields[i]);
    if (!read_bits) return std::unexpected(read_bits.error());
    *bits[i] = *read_bits;
  }
  if ((cron.weekdays_ >> 7 & 1) != 0) cron.weekdays_ |= 1;
  cron.any_day_ = fields[2] == "*";
  cron.any_weekday_ = fields[4] == "*";
  return cron;
}

/// @param days  days since the Unix epoch
bool Cron::matches_day(std::int64_t days) const {
  const std::chrono::sys_days day{std::chrono::days(days)};
  const std::chrono::year_month_day date(day);
  const bool month = (months_ >> static_cast<unsigned>(date.month()) & 1) != 0;
  const bool of_month = (days_ >> static_cast<unsigned>(date.day()) & 1) != 0;
  const bool of_week = (weekdays_ >> std::chrono::weekday(day).c_encoding() & 1) != 0;
  return month && (any_day_ || any_weekday_ ? of_month && of_week : of_month || of_week);
}

bool Cron::matches_minute(std::int64_t of_day) const {
  return (hours_ >> (of_day / 60) & 1) != 0 && (minutes_ >> (of_day % 60) & 1) != 0;
}

std::optional<Instant> Cron::last(Instant at, std::int64_t max_days) const {
  const std::int64_t minute = std::chrono::floor<std::chrono::minutes>(at.since_start).count();
  const std::int64_t today = std::chrono::floor<std::chrono::days>(at.since_start).count();
  for (std::int64_t day = today; day >= today - max_days; --day) {
    if (!matches_day(day)) continue;
    for (std::int64_t of_day = std::min(minute - day * kMinutesOfDay, kMinutesOfDay - 1); of_day >= 0; --of_day) {
      if (matches_minute(of_day)) return Instant{std::chrono::minutes(day * kMinutesOfDay + of_day)};
    }
  }
  return std::nullopt;
}

std::optional<Instant> Cron::next(Instant at, std::int64_t max_days) const {
  const std::int64_t minute = std::chrono::floor<std::chrono::minutes>(at.since_start).count() + 1;
  const std::int64_t today = std::chrono::floor<std::chrono::days>(at.since_start).count();
  for (std::int64_t day = today; day <= today + max_days; ++day) {
    if (!matches_day(day)) continue;
    for (std::int64_t of_day = std::max<std::int64_t>(minute - day * kMinutesOfDay, 0); of_day < kMinutesOfDay;
         ++of_day) {
      if (matches_minute(of_day)) return Instant{std::chrono::minutes(day * kMinutesOfDay + of_day)};
    }
  }
  return std::nullopt;
}

}  // namespace capstan
