#include "manifest/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/control_characters.h"
#include "base/similar_names.h"
#include "manifest/path.h"
#include "manifest/scalars.h"

namespace capstan::manifest {

namespace {

bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_length(text.substr(i)) > 0) return true;
  }
  return false;
}

std::string quoted(std::string_view key) { return '"' + std::string(key) + '"'; }

/// Returns the only name whose first part is the key, or which is the first part of the key: "ttft_p99" for "ttft", and
/// the other way round. Parts are separated by underscores. Empty if there is none or more than one.
std::string_view same_first_part(std::string_view key, std::span<const std::string_view> names) {
  const auto begins = [](std::string_view whole, std::string_view part) {
    return whole.size() > part.size() && whole.starts_with(part) && whole[part.size()] == '_';
  };
  std::string_view found;
  for (const std::string_view name : names) {
    if (!begins(name, key) && !begins(key, name)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace

std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> names) {
  const std::vector<std::string_view> similar = similar_names(word, names);
  return similar.empty() ? std::string_view() : similar.front();
}

std::string one_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string usd_text(MicroUsd amount) {
  return fmt::format("{}.{:06d}", amount.count / 1'000'000, amount.count % 1'000'000);
}

std::string duration_text(Duration duration) {
  constexpr std::array<std::pair<const char*, std::int64_t>, 6> kUnits = {{{"h", 3'600'000'000'000},
                                                                           {"m", 60'000'000'000},
                                                                           {"s", 1'000'000'000},
                                                                           {"ms", 1'000'000},
                                                                           {"us", 1'000},
                                                                           {"ns", 1}}};
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  for (const auto& [unit, size] : kUnits) {
    if (rest / size > 0) text += fmt::format("{}{}", rest / size, unit);
    rest %= size;
  }
  return text;
}

void ErrorList::fail(Error found) {
  if (gives_up()) return;
  if (!error) {
    error = std::move(found);
  } else {
    others.push_back(std::move(found));
  }
}

Errors ErrorList::all() const {
  std::vector<Error> errors = others;
  if (error) errors.insert(errors.begin(), *error);
  return Errors(std::move(errors));
}

Fields::Fields(const Node& node, std::string what, ErrorList& errors)
    : node_(node), what_(std::move(what)), errors_(errors), mark_(errors) {
  if (node_.kind != Node::Kind::mapping && !node_.is_null()) {
    errors_.fail(node_.place, fmt::format("{} is {}, expected a mapping", what_, node_.words()));
  }
}

const Node* Fields::take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const Node* value = errors_.gives_up() ? nullptr : node_.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Node* Fields::take_required(std::string_view key) {
  const Node* value = take(key);
  if (value != nullptr) return value;
  wrong_.push_back(key);
  // A value that is not a mapping already has an error, so no missing key is reported.
  const bool mapping = node_.kind == Node::Kind::mapping || node_.is_null();
  if (mapping) errors_.fail(node_.place, fmt::format("{} lacks {}", what_, quoted(key)));
  return nullptr;
}

std::span<const Node> Fields::list(std::string_view key) {
  const Node* value = take(key);
  if (value == nullptr) return {};
  if (value->kind != Node::Kind::sequence) {
    wrong(*value, key, "a list");
    return {};
  }
  return value->items;
}

std::span<const Node> Fields::non_empty_list(std::string_view key) {
  const Node* value = take(key);
  const std::span<const Node> items = list(key);
  if (value != nullptr && value->kind == Node::Kind::sequence && items.empty()) {
    wrong_.push_back(key);
    errors_.fail(value->place, fmt::format("{}.{}: found an empty list, expected at least one element", what_, key));
  }
  return items;
}

bool Fields::wrong(const Node& value, std::string_view key, std::string_view expected) {
  wrong_.push_back(key);
  errors_.fail(value.place, fmt::format("{}.{}: found {}, expected {}", what_, key, value.words(), expected));
  return false;
}

const Node* Fields::scalar(std::string_view key, std::string_view expected) {
  const Node* value = take(key);
  if (value == nullptr) return nullptr;
  if (value->kind == Node::Kind::scalar) return value;
  wrong(*value, key, expected);
  return nullptr;
}

template <typename Value, typename Read, typename Show>
bool Fields::read_bounded(std::string_view key, Value& out, Value low, Value high, std::string_view expected, Read read,
                          Show show) {
  const Node* value = scalar(key, expected);
  if (value == nullptr) return false;
  const auto parsed = read(value->text);
  if (!parsed) return wrong(*value, key, expected);
  if (*parsed < low || high < *parsed) {
    return wrong(*value, key, fmt::format("{} to {}", show(low), show(high)));
  }
  out = *parsed;
  return true;
}

bool Fields::text(std::string_view key, std::string& out) {
  const Node* value = scalar(key, "a string");
  if (value == nullptr) return false;
  if (value->text.empty()) return wrong(*value, key, "a string that is not empty");
  if (has_control_characters(value->text)) return wrong(*value, key, "a string without control characters");
  out = value->text;
  return true;
}

bool Fields::boolean(std::string_view key, bool& out) {
  return read_bounded(key, out, false, true, "true or false", read_boolean,
                      [](bool b) { return b ? "true" : "false"; });
}

bool Fields::cron(std::string_view key, Cron& out) {
  const Node* value = scalar(key, "a schedule in the form of crontab");
  if (value == nullptr) return false;
  Result<Cron> parsed = Cron::parse(value->text);
  if (!parsed) {
    errors_.fail(value->place, fmt::format("{}.{}: {}", what_, key, parsed.error().message));
    return false;
  }
  out = std::move(*parsed);
  return true;
}

bool Fields::duration(std::string_view key, Duration& out, Duration low, Duration high) {
  const Node* value = node_.find(key);
  const bool is_negative =
      value != nullptr && value->text.starts_with('-') && read_duration(value->text.substr(1)).has_value();
  const std::string expected = is_negative ? fmt::format("{} to {}", duration_text(low), duration_text(high))
                                           : "a duration with its unit, such as 250ms, 90s or 1h30m";
  return read_bounded(key, out, low, high, expected, read_duration, duration_text);
}

bool Fields::bytes(std::string_view key, Bytes& out, Bytes low, Bytes high) {
  return read_bounded(key, out, low, high, "bytes with their unit, such as 20GB or 512MiB", read_bytes,
                      [](Bytes b) { return fmt::format("{}B", b.count); });
}

bool Fields::bytes_per_second(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high) {
  return read_bounded(key, out, low, high, "a bandwidth with its unit, such as 2GB/s or 10Gbit/s",
                      read_bytes_per_second, [](std::int64_t b) { return fmt::format("{}B/s", b); });
}

bool Fields::usd(std::string_view key, MicroUsd& out, MicroUsd low, MicroUsd high) {
  return read_bounded(key, out, low, high, "an amount in USD, such as 12.29", read_usd, usd_text);
}

bool Fields::number(std::string_view key, double& out, double low, double high) {
  return read_bounded(key, out, low, high, "a number", read_number, [](double d) { return fmt::format("{}", d); });
}

bool Fields::integer64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high) {
  return read_bounded(key, out, low, high, "a whole number", read_integer,
                      [](std::int64_t n) { return fmt::format("{}", n); });
}

bool Fields::share64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high) {
  return read_bounded(key, out, low, high, "a share, such as 80% or 0.8", read_share_ppm, [](std::int64_t ppm) {
    return ppm % 10'000 == 0 ? fmt::format("{}%", ppm / 10'000) : fmt::format("{}%", static_cast<double>(ppm) / 1e4);
  });
}

std::size_t Fields::pick(std::string_view key, std::span<const std::string_view> names) {
  const std::string expected = one_of(names);
  const Node* value = scalar(key, expected);
  if (value == nullptr) return names.size();
  const auto found = std::find(names.begin(), names.end(), value->text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string_view meant = did_you_mean(value->text, names);
  wrong(*value, key, meant.empty() ? expected : fmt::format("{} (did you mean {}?)", expected, meant));
  return names.size();
}

const Place& Fields::place_for_error(std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string> paths(keys.begin(), keys.end());
  return manifest::place_for_error(node_, paths);
}

void Fields::finish() {
  const bool decided = decided_by_.empty() || std::ranges::find(wrong_, decided_by_) == wrong_.end();
  if (errors_.gives_up() || !decided) return;
  const auto is_known = [&](const Node::Entry& entry) { return std::ranges::find(known_, entry.key) != known_.end(); };
  if (std::ranges::all_of(node_.entries, is_known)) return;
  std::vector<std::string_view> names = known_;
  std::sort(names.begin(), names.end());
  const Node* decider = decided_by_.empty() ? nullptr : node_.find(decided_by_);
  const std::string under = decider == nullptr ? "" : fmt::format(" under {} {}", decided_by_, decider->text);
  for (const Node::Entry& entry : node_.entries) {
    if (is_known(entry)) continue;
    const std::string_view extended = same_first_part(entry.key, names);
    const std::string_view meant = extended.empty() ? did_you_mean(entry.key, names) : extended;
    errors_.fail(entry.place,
                 fmt::format("{}{}: found key {}, expected one of {}{}", what_, under, quoted(entry.key), one_of(names),
                             meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant)));
  }
}

}  // namespace capstan::manifest
