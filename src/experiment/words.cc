#include "experiment/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace capstan::experiment {

namespace {

constexpr std::int64_t kMicroUsd = 1'000'000;

std::string counted(std::int64_t number, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

/// (b - a) / b in whole percent, b > 0.
std::int64_t percent_less(std::int64_t a, std::int64_t b) { return b <= 0 ? 0 : (b - a) * 100 / b; }

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string tenths(std::int64_t number, std::int64_t unit) {
  const std::int64_t tenth = (number * 10 + unit / 2) / unit;
  return fmt::format("{}.{}", grouped(tenth / 10), tenth % 10);
}

std::string seconds(std::int64_t microseconds) {
  if (microseconds < 9'995'000) {
    const std::int64_t hundredths = (microseconds + 5'000) / 10'000;
    return fmt::format("{}.{:02} s", hundredths / 100, hundredths % 100);
  }
  if (microseconds < 99'950'000) return tenths(microseconds, 1'000'000) + " s";
  return grouped((microseconds + 500'000) / 1'000'000) + " s";
}

std::string usd(std::int64_t micro_usd) {
  const std::int64_t cents = (micro_usd + kMicroUsd / 200) / (kMicroUsd / 100);
  return fmt::format("{}.{:02}", grouped(cents / 100), cents % 100);
}

std::string gpu_hours(std::int64_t gpu_ns) { return tenths(gpu_ns / 1'000'000, 3'600'000); }

std::string time_words(Duration duration, int parts) {
  constexpr std::array<std::pair<const char*, std::int64_t>, 6> kUnits = {{{"d", 86'400'000'000'000},
                                                                           {"h", 3'600'000'000'000},
                                                                           {"min", 60'000'000'000},
                                                                           {"s", 1'000'000'000},
                                                                           {"ms", 1'000'000},
                                                                           {"us", 1'000}}};
  std::int64_t rest = duration.count();
  std::string text;
  for (const auto& [unit, size] : kUnits) {
    const std::int64_t count = rest / size;
    rest %= size;
    if (count == 0 && text.empty()) continue;
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : " ", count, unit);
    if (--parts == 0) break;
    if (size == 1'000'000'000 && count >= 10) break;  // nobody reads the milliseconds of minutes
  }
  return text.empty() ? "0 s" : text;
}

std::string clock(Instant at) {
  const std::int64_t seconds = at.since_start.count() / 1'000'000'000;
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) == 0x80) continue;
    const bool combining = (byte == 0xcc || byte == 0xcd) && i + 1 < text.size();
    count += combining ? 0 : 1;
  }
  return count;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  std::size_t cut = 0;
  for (std::size_t shown = 0; cut < text.size(); ++cut) {
    if ((static_cast<unsigned char>(text[cut]) & 0xc0) != 0x80 && ++shown == width) break;
  }
  return text.substr(0, cut) + "…";
}

std::int64_t idle_gpu_minutes(const RunResult& result) {
  std::int64_t idle = 0;
  for (const GpuState state : {GpuState::idle, GpuState::sleeping, GpuState::held, GpuState::unallocated}) {
    idle += result.gpu_ns[static_cast<std::size_t>(state)];
  }
  constexpr std::int64_t kMinute = 60'000'000'000;
  return (idle + kMinute / 2) / kMinute;
}

std::string broken_words(const RunResult& result) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* one, const char* many) {
    if (count > 0) text += (text.empty() ? "broke: " : ", ") + counted(count, one, many);
  };
  const InvariantFigures& broken = result.invariants;
  add(broken.partial_gang, "gang partly placed", "gangs partly placed");
  add(broken.work_cut, "running replica ended", "running replicas ended");
  add(broken.lowered_blind, "scale-down without data", "scale-downs without data");
  add(broken.limit_exceeded, "limit exceeded", "limits exceeded");
  add(broken.not_repeatable, "decision not repeatable", "decisions not repeatable");
  add(broken.group_overheld, "group held too long", "groups held too long");
  add(broken.oracle, "reading of the future", "readings of the future");
  add(broken.not_conserved, "balance that does not close", "balances that do not close");
  return text;
}

std::string verdict_words(const Comparison& c) {
  const RunResult& best = c.results.front();
  if (best.requests.arrived == 0) return "No request arrived.";
  const bool holds = best.attainment_ppm() >= c.slo.attainment_ppm;
  const std::string met = tenths(best.attainment_ppm(), 10'000);
  const std::string asked = tenths(c.slo.attainment_ppm, 10'000);
  if (c.results.size() == 1) {
    return fmt::format("{} {} the SLO: {} % met, {} % asked, for {} USD; {} unmet, score {}.", best.policy,
                       holds ? "holds" : "misses", met, asked, usd(best.total_micro_usd()),
                       counted(best.requests.unmet(), "request", "requests"), tenths(best.score_milli(), 1000));
  }
  const RunResult& last = c.results.back();
  if (best.score_milli() == last.score_milli()) {
    return fmt::format("All {} policies score {}: nothing in this load tells them apart.", c.results.size(),
                       tenths(best.score_milli(), 1000));
  }
  std::string text = fmt::format("{} wins{} {} % met, {} % asked", best.policy,
                                 holds ? " and holds the SLO:" : ", but misses the SLO:", met, asked);
  const std::int64_t points = best.attainment_ppm() - last.attainment_ppm();
  if (points >= 500) {
    text += fmt::format("; {} points more than {}", tenths(points, 10'000), last.policy);
  } else if (points <= -500) {
    text += fmt::format("; {} points fewer than {}", tenths(-points, 10'000), last.policy);
  } else {
    text += fmt::format("; as many as {}", last.policy);
  }
  if (last.total_micro_usd() <= 0) return text + ".";
  const std::int64_t less = percent_less(best.total_micro_usd(), last.total_micro_usd());
  if (less > 0) return text + fmt::format(", for {} % less money.", less);
  const std::int64_t more = best.total_micro_usd() - last.total_micro_usd();
  const std::int64_t percent = more * 100 / std::max<std::int64_t>(1, last.total_micro_usd());
  return text + (percent > 0 ? fmt::format(", for {} % more money.", percent) : ", for the same money.");
}

}  // namespace capstan::experiment
