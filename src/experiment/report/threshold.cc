#include "experiment/report/threshold.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "manifest/fields.h"
#include "manifest/scalars.h"

namespace capstan::experiment {

namespace {

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

/// A figure and the range of its bounds.
struct Row {
  std::string_view name;
  Threshold::Figure figure;
  std::int64_t max;           ///< highest bound, in the unit of Threshold::bound; the lowest is 0
  std::string_view expected;  ///< description of a valid bound
};

constexpr std::string_view kCount = "a whole number, 0 or more";
constexpr std::string_view kTime = "a time such as 2s or 1500ms";
constexpr std::array<Row, 9> kFigures = {
    {{"met", Threshold::Figure::met, 1'000'000,
      "a percentage from 0 to 100, such as 99 or 99%, with % if it is below 1"},
     {"unmet", Threshold::Figure::unmet, kAny, kCount},
     {"score", Threshold::Figure::score, 100'000, "a score from 0 to 100"},
     {"usd", Threshold::Figure::usd, kAny, "an amount of USD, 0 or more, such as 12.50"},
     {"ttft_p99", Threshold::Figure::ttft_p99, kAny, kTime},
     {"tpot_p99", Threshold::Figure::tpot_p99, kAny, kTime},
     {"e2e_p99", Threshold::Figure::e2e_p99, kAny, kTime},
     {"disruptions", Threshold::Figure::disruptions, kAny, kCount},
     {"broken", Threshold::Figure::broken, kAny, kCount}}};

/// Reads a percentage: "80", "80%" or "80 %". A bare number is percent because the table prints percent. A bare number
/// between 0 and 1 is refused, because it probably means a share.
std::optional<std::int64_t> percent_ppm(std::string_view text) {
  const bool may_be_share = text.starts_with("0.") || text.starts_with(".");
  if (may_be_share && !text.ends_with('%')) return std::nullopt;
  if (text.ends_with('%')) text.remove_suffix(1);
  if (text.ends_with(' ')) text.remove_suffix(1);
  return manifest::read_share_ppm(std::string(text) + "%");
}

std::optional<std::int64_t> bound_of(Threshold::Figure figure, std::string_view text) {
  switch (figure) {
    case Threshold::Figure::met:
      return percent_ppm(text);
    case Threshold::Figure::unmet:
    case Threshold::Figure::disruptions:
    case Threshold::Figure::broken:
      return manifest::read_integer(text);
    case Threshold::Figure::score:
    case Threshold::Figure::usd: {
      const std::optional<MicroUsd> amount = manifest::read_usd(text);
      if (!amount) return std::nullopt;
      return figure == Threshold::Figure::usd ? amount->count : amount->count / 1000;
    }
    case Threshold::Figure::ttft_p99:
    case Threshold::Figure::tpot_p99:
    case Threshold::Figure::e2e_p99: {
      const std::optional<Duration> duration = manifest::read_duration(text);
      if (!duration) return std::nullopt;
      return duration->count() / 1000;
    }
  }
  return std::nullopt;
}

/// Returns `value / unit` as a decimal without trailing zeros: "2", "98.9612".
std::string decimal(std::int64_t value, std::int64_t unit) {
  const std::int64_t size = value < 0 ? -value : value;
  std::string text = (value < 0 ? "-" : "") + std::to_string(size / unit);
  if (size % unit == 0) return text;
  text += '.' + std::to_string(unit + size % unit).substr(1);
  return text.substr(0, text.find_last_not_of('0') + 1);
}

Error usage(std::string_view text, std::string message) {
  return {ErrorKind::usage, "--fail-on " + std::string(text), 0, 0, std::move(message)};
}

}  // namespace

std::optional<std::int64_t> Threshold::value(const RunResult& result) const {
  const auto if_any = [](RequestCount requests, std::int64_t figure) {
    return requests > 0 ? std::optional(figure) : std::nullopt;
  };
  switch (figure) {
    case Threshold::Figure::met:
      return if_any(result.requests.arrived, result.attainment_ppm());
    case Threshold::Figure::unmet:
      return result.requests.unmet();
    case Threshold::Figure::score:
      return if_any(result.requests.arrived, result.score_milli());
    case Threshold::Figure::usd:
      return result.total_micro_usd();
    case Threshold::Figure::ttft_p99:
      return if_any(result.requests.completed, result.ttft.p99_us);
    case Threshold::Figure::tpot_p99:
      return if_any(result.requests.completed, result.tpot.p99_us);
    case Threshold::Figure::e2e_p99:
      return if_any(result.requests.completed, result.e2e.p99_us);
    case Threshold::Figure::disruptions:
      return result.disruptions.consolidation + result.disruptions.scale_down + result.disruptions.eviction +
             result.disruptions.spot;
    case Threshold::Figure::broken:
      return result.invariants.total();
  }
  return std::nullopt;
}

bool Threshold::missed(const RunResult& result) const {
  const std::optional<std::int64_t> found = value(result);
  if (!found) return true;
  return below ? *found < bound : *found > bound;
}

std::string Threshold::figure_text(const RunResult& result) const {
  const std::optional<std::int64_t> found = value(result);
  if (!found)
    return result.requests.arrived == 0 ? "no value, because no request arrived"
                                        : "no value, because no request was completed";
  switch (figure) {
    case Threshold::Figure::met:
      return decimal(*found, 10'000) + "%";
    case Threshold::Figure::score:
      return decimal(*found, 1000);
    case Threshold::Figure::usd:
      return decimal(*found, 1'000'000) + " USD";
    case Threshold::Figure::ttft_p99:
    case Threshold::Figure::tpot_p99:
    case Threshold::Figure::e2e_p99:
      return decimal(*found, 1'000'000) + "s";
    case Threshold::Figure::unmet:
    case Threshold::Figure::disruptions:
    case Threshold::Figure::broken:
      return std::to_string(*found);
  }
  return {};
}

Result<Threshold> parse_threshold(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) {
    return std::unexpected(usage(text, "expected a figure, < or >, and a bound, such as met<99% or ttft_p99>2s"));
  }
  const std::string_view name = text.substr(0, sign);
  const std::string_view bound = text.substr(sign + 1);
  const auto row = std::ranges::find(kFigures, name, &Row::name);
  if (row == kFigures.end()) {
    std::vector<std::string_view> names;
    for (const Row& known : kFigures) names.push_back(known.name);
    return std::unexpected(
        usage(text, "found \"" + std::string(name) + "\", expected one of " + manifest::one_of(names)));
  }
  const std::optional<std::int64_t> value = bound_of(row->figure, bound);
  if (!value || *value < 0 || *value > row->max) {
    return std::unexpected(usage(text, "found \"" + std::string(bound) + "\", expected " + std::string(row->expected)));
  }
  return Threshold{.figure = row->figure, .below = text[sign] == '<', .bound = *value, .text = std::string(text)};
}

}  // namespace capstan::experiment
