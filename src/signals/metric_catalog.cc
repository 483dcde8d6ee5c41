#include "signals/metric_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "base/assert.h"
#include "base/hash.h"
#include "base/split.h"
#include "signals/bundled_metrics.h"

namespace capstan::signals {
namespace {

using Problem = std::pair<std::string, std::string>;  // field, message

struct UnitRule {
  std::string_view unit;
  Measure measure;
  double scale;
};

constexpr UnitRule kUnits[] = {
    {"requests", Measure::requests, 1},
    {"tokens", Measure::tokens, 1},
    {"ppm", Measure::ppm, 1},
    {"ratio", Measure::ppm, 1e6},
    {"percent", Measure::ppm, 1e4},
    {"percent", Measure::percent, 1},
    {"ratio", Measure::percent, 100},
    {"microseconds", Measure::microseconds, 1},
    {"seconds", Measure::microseconds, 1e6},
    {"milliseconds", Measure::microseconds, 1e3},
    {"nanoseconds", Measure::microseconds, 1e-3},
    {"microseconds", Measure::request_microseconds, 1},
    {"seconds", Measure::request_microseconds, 1e6},
    {"milliseconds", Measure::request_microseconds, 1e3},
};
constexpr std::string_view kShareUnits[] = {"bytes", "mebibytes", "blocks", "tokens"};
constexpr std::string_view kKinds[] = {"gauge", "counter", "histogram", "share_used", "share_rest", "share_whole"};
constexpr std::string_view kColumns[] = {"engine", "signal",  "metric",  "kind",    "unit",
                                         "where",  "combine", "subject", "versions"};

/// Splits a list. An empty text is an empty list.
std::vector<std::string_view> items(std::string_view list, char separator) {
  return list.empty() ? std::vector<std::string_view>() : split(list, separator);
}

bool is_share(MetricKind kind) { return kind >= MetricKind::share_used; }
bool is_counter(SignalName signal) { return info(signal).name.ends_with("_total"); }

std::string_view unit_name(Measure measure) {
  const auto is_own = [&](const UnitRule& rule) { return rule.measure == measure && rule.scale == 1; };
  const UnitRule* const own = std::ranges::find_if(kUnits, is_own);
  CAPSTAN_ASSERT(own != std::end(kUnits));
  return own->unit;
}

std::string all_signals() {
  std::string text;
  for (const SignalInfo& signal : kSignals) text += (text.empty() ? "" : ", ") + std::string(signal.name);
  return text;
}

bool is_metric_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// Returns an error message if a metric of this kind cannot give the signal.
std::optional<std::string> kind_problem(SignalName signal, MetricKind kind) {
  const Measure measure = info(signal).measure;
  if (is_counter(signal) != (kind == MetricKind::counter)) {
    return is_counter(signal) ? "expected counter: the signal counts since the start"
                              : "expected another kind than counter: the signal is a current state";
  }
  if (kind == MetricKind::histogram && measure != Measure::microseconds)
    return "expected gauge: only latencies come from histograms";
  if (is_share(kind) && measure != Measure::ppm && measure != Measure::percent) {
    return "expected gauge: the signal is not a share";
  }
  return std::nullopt;
}

std::optional<double> scale_of(std::string_view unit, SignalName signal, MetricKind kind) {
  if (is_share(kind))
    return std::ranges::find(kShareUnits, unit) != std::end(kShareUnits) ? std::optional(1.0) : std::nullopt;
  for (const UnitRule& rule : kUnits) {
    if (rule.unit == unit && rule.measure == info(signal).measure) return rule.scale;
  }
  return std::nullopt;
}

std::string units_for(SignalName signal, MetricKind kind) {
  std::string text;
  const auto append = [&](std::string_view unit) { text += (text.empty() ? "" : ", ") + std::string(unit); };
  if (is_share(kind)) {
    for (const std::string_view unit : kShareUnits) append(unit);
  } else {
    for (const UnitRule& rule : kUnits) {
      if (rule.measure == info(signal).measure) append(rule.unit);
    }
  }
  return text;
}

/// Returns the operation that combines the values of several ranks, or an error message.
std::expected<Combine, std::string> combine_of(const MetricText& text, Measure measure, MetricKind kind) {
  const bool adds_up = measure == Measure::requests || measure == Measure::tokens || kind != MetricKind::gauge;
  if (!text.combine.empty() && text.combine != "sum" && text.combine != "max") {
    return std::unexpected(fmt::format("'{}', expected sum or max", text.combine));
  }
  if (text.combine == "sum" && !adds_up) {
    return std::unexpected(fmt::format("values of {} from several ranks cannot be added, expected max", text.signal));
  }
  const Combine combine = text.combine == "max" || (text.combine.empty() && !adds_up) ? Combine::max : Combine::sum;
  if (combine == Combine::max && kind != MetricKind::gauge) {
    return std::unexpected(fmt::format("max cannot combine a {}, expected sum", text.kind));
  }
  return combine;
}

}  // namespace

std::size_t MetricCatalog::Hash::operator()(std::string_view name) const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c == ':' ? '_' : c)) * 0x100000001b3ULL;
  return mix64(hash);
}

bool MetricCatalog::NameEqual::operator()(std::string_view a, std::string_view b) const {
  const auto plain = [](char c) { return c == ':' ? '_' : c; };
  return std::ranges::equal(a, b, {}, plain, plain);
}

std::expected<void, Problem> MetricCatalog::add(const MetricText& text) {
  MetricRow row;
  const auto problem = [](std::string field, std::string message) {
    return std::unexpected(Problem{std::move(field), std::move(message)});
  };
  if (text.engine.empty()) return problem("engine", "empty, expected the name of the engine");
  const std::optional<SignalName> signal = signal_named(text.signal);
  if (!signal)
    return problem("signal", fmt::format("'{}' is not a signal, expected one of {}", text.signal, all_signals()));
  row.signal = *signal;
  if (!is_metric_name(text.metric)) {
    return problem("metric",
                   fmt::format("'{}' is not a metric name, expected letters, digits, '_' and ':'", text.metric));
  }
  row.metric = text.metric;
  const auto kind = std::ranges::find(kKinds, text.kind);
  if (kind == std::end(kKinds)) {
    return problem("kind",
                   fmt::format("'{}' is not a metric kind, expected one of {}", text.kind, fmt::join(kKinds, ", ")));
  }
  row.kind = static_cast<MetricKind>(kind - std::begin(kKinds));
  if (const std::optional<std::string> reason = kind_problem(row.signal, row.kind)) {
    return problem("kind", fmt::format("a {} cannot give {}, {}", text.kind, text.signal, *reason));
  }
  row.unit = text.unit.empty() && !is_share(row.kind) ? std::string(unit_name(info(row.signal).measure)) : text.unit;
  const std::optional<double> scale = scale_of(row.unit, row.signal, row.kind);
  if (!scale) {
    return problem("unit", fmt::format("'{}' is not a unit of {}, expected one of {}", row.unit, text.signal,
                                       units_for(row.signal, row.kind)));
  }
  row.scale = *scale;
  const std::expected<Combine, std::string> combine = combine_of(text, info(row.signal).measure, row.kind);
  if (!combine) return problem("combine", combine.error());
  row.combine = *combine;
  for (const std::string_view pair : items(text.where, ';')) {
    const std::size_t equal = pair.find('=');
    if (equal == pair.npos || equal == 0) {
      return problem("where", fmt::format("'{}', expected label=value, separated by ';'", pair));
    }
    row.where.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
  }
  row.subject = text.subject;
  for (const std::string_view choice : items(text.subject, '|')) {
    const std::vector<std::string_view> names = split(choice, '/');
    if (std::ranges::find(names, "") != names.end()) {
      return problem("subject", fmt::format("'{}', expected label names separated by '/' and '|'", text.subject));
    }
    row.subject_labels.emplace_back(names.begin(), names.end());
  }
  row.versions = text.versions;
  for (const MetricRow& other : rows_) {
    if (engines_[other.engine] == text.engine && other.signal == row.signal && NameEqual{}(other.metric, row.metric) &&
        other.where == row.where) {
      return problem("metric",
                     fmt::format("{} is already mapped to {}, expected every metric once", text.metric, text.signal));
    }
  }
  const auto engine = std::ranges::find(engines_, text.engine);
  row.engine = static_cast<std::uint16_t>(engine - engines_.begin());
  if (engine == engines_.end()) engines_.push_back(text.engine);
  by_name_[row.metric + (row.kind == MetricKind::histogram ? "_bucket" : "")].push_back(
      static_cast<std::uint16_t>(rows_.size()));
  rows_.push_back(std::move(row));
  return {};
}

Result<MetricCatalog> MetricCatalog::parse(std::string_view csv, const std::string& file) {
  MetricCatalog catalog;
  std::uint32_t number = 0;
  const auto failure = [&](std::string message) {
    return std::unexpected(Error{.file = file, .line = number, .message = std::move(message)});
  };
  for (const std::string_view line : split(csv, '\n')) {
    ++number;
    const std::vector<std::string_view> parts = split(line, ',');
    const std::vector<std::string> fields(parts.begin(), parts.end());
    if (number == 1) {
      if (!std::ranges::equal(fields, kColumns))
        return failure(fmt::format("expected the header {}", fmt::join(kColumns, ",")));
      continue;
    }
    if (line.empty()) continue;
    if (fields.size() != std::size(kColumns)) {
      return failure(fmt::format("{} fields, expected {}", fields.size(), std::size(kColumns)));
    }
    const auto added = catalog.add(
        {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7], fields[8]});
    if (!added) return failure(added.error().first + ": " + added.error().second);
  }
  return catalog;
}

Result<MetricCatalog> MetricCatalog::custom(std::span<const MetricText> rows, const std::string& where_written) {
  constexpr std::size_t kMaxRows = 256;
  MetricCatalog catalog;
  const auto failure = [&](std::string message) {
    return std::unexpected(Error{.file = where_written, .message = std::move(message)});
  };
  if (rows.empty()) return failure("metrics: empty, expected at least one metric");
  if (rows.size() > kMaxRows) return failure(fmt::format("metrics: {}, expected at most {}", rows.size(), kMaxRows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    MetricText row = rows[i];
    row.engine = "custom";
    const auto added = catalog.add(row);
    if (!added) return failure(fmt::format("metrics[{}].{}: {}", i, added.error().first, added.error().second));
  }
  return catalog;
}

const MetricCatalog& MetricCatalog::bundled() {
  static const MetricCatalog catalog = [] {
    Result<MetricCatalog> parsed = parse(bundled_metrics_csv(), "schema/metrics.csv");
    CAPSTAN_ASSERT(parsed.has_value());
    return std::move(*parsed);
  }();
  return catalog;
}

Result<std::uint16_t> MetricCatalog::engine(std::string_view name) const {
  const auto found = std::ranges::find(engines_, name);
  if (found != engines_.end()) return static_cast<std::uint16_t>(found - engines_.begin());
  return std::unexpected(
      Error{.file = {},
            .message = fmt::format("'{}' is not a known engine, expected one of {}", name, fmt::join(engines_, ", "))});
}

std::span<const std::uint16_t> MetricCatalog::find(std::string_view series_name) const {
  auto found = by_name_.find(series_name);
  if (found == by_name_.end() && series_name.starts_with("kserve_")) found = by_name_.find(series_name.substr(7));
  if (found == by_name_.end()) return {};
  return found->second;
}

}  // namespace capstan::signals
