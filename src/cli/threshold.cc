#include "cli/threshold.h"

#include <array>
#include <optional>
#include <vector>

#include "manifest/fields.h"
#include "manifest/scalars.h"

namespace capstan::cli {

namespace {

using Figure = Threshold::Figure;

constexpr std::array<std::pair<std::string_view, Figure>, 9> kFigures = {{{"met", Figure::met},
                                                                          {"unmet", Figure::unmet},
                                                                          {"score", Figure::score},
                                                                          {"usd", Figure::usd},
                                                                          {"ttft_p99", Figure::ttft_p99},
                                                                          {"tpot_p99", Figure::tpot_p99},
                                                                          {"e2e_p99", Figure::e2e_p99},
                                                                          {"disruptions", Figure::disruptions},
                                                                          {"broken", Figure::broken}}};

std::optional<std::int64_t> bound_of(Figure figure, std::string_view text) {
  switch (figure) {
    case Figure::met:
      return manifest::read_share_ppm(text);
    case Figure::unmet:
    case Figure::disruptions:
    case Figure::broken:
      return manifest::read_integer(text);
    case Figure::score:
    case Figure::usd: {
      const std::optional<MicroUsd> amount = manifest::read_usd(text);
      if (!amount) return std::nullopt;
      return figure == Figure::usd ? amount->count : amount->count / 1000;
    }
    case Figure::ttft_p99:
    case Figure::tpot_p99:
    case Figure::e2e_p99: {
      const std::optional<Duration> duration = manifest::read_duration(text);
      if (!duration) return std::nullopt;
      return duration->count() / 1000;
    }
  }
  return std::nullopt;
}

/// A decimal without the zeros that say nothing: "2", "98.9612".
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

std::int64_t Threshold::value(const experiment::RunResult& result) const {
  switch (figure) {
    case Figure::met:
      return result.attainment_ppm();
    case Figure::unmet:
      return result.requests.unmet();
    case Figure::score:
      return result.score_milli();
    case Figure::usd:
      return result.total_micro_usd();
    case Figure::ttft_p99:
      return result.ttft.p99_us;
    case Figure::tpot_p99:
      return result.tpot.p99_us;
    case Figure::e2e_p99:
      return result.e2e.p99_us;
    case Figure::disruptions:
      return result.disruptions.consolidation + result.disruptions.scale_down + result.disruptions.eviction +
             result.disruptions.spot;
    case Figure::broken:
      return result.invariants.total();
  }
  return 0;
}

bool Threshold::missed(const experiment::RunResult& result) const {
  return below ? value(result) < bound : value(result) > bound;
}

std::string Threshold::found(const experiment::RunResult& result) const {
  const std::int64_t found = value(result);
  switch (figure) {
    case Figure::met:
      return decimal(found, 10'000) + "%";
    case Figure::score:
      return decimal(found, 1000);
    case Figure::usd:
      return decimal(found, 1'000'000) + " USD";
    case Figure::ttft_p99:
    case Figure::tpot_p99:
    case Figure::e2e_p99:
      return decimal(found, 1'000'000) + "s";
    case Figure::unmet:
    case Figure::disruptions:
    case Figure::broken:
      return std::to_string(found);
  }
  return {};
}

Result<Threshold> parse_threshold(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& [name, figure] : kFigures) names.push_back(name);
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) {
    return std::unexpected(usage(text, "expected a figure, < or >, and a bound, such as met<99% or ttft_p99>2s"));
  }
  Threshold threshold;
  threshold.text = text;
  threshold.below = text[sign] == '<';
  const std::string_view name = text.substr(0, sign);
  for (const auto& [known, figure] : kFigures) {
    if (known != name) continue;
    threshold.figure = figure;
    const std::optional<std::int64_t> bound = bound_of(figure, text.substr(sign + 1));
    if (!bound)
      return std::unexpected(usage(text,
                                   "the bound is not one of this figure, such as met<99%, unmet>0, "
                                   "score<50, usd>100 or ttft_p99>2s"));
    threshold.bound = *bound;
    return threshold;
  }
  return std::unexpected(
      usage(text, "found \"" + std::string(name) + "\", expected one of " + manifest::one_of(names)));
}

}  // namespace capstan::cli
