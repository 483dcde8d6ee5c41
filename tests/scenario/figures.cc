#include "scenario/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "experiment/report/result_words.h"

namespace capstan::golden {

namespace {

using experiment::GpuState;
using experiment::RunResult;

constexpr double kMinuteNs = 6e10;

double gpu_minutes(const RunResult& r, GpuState state) {
  return static_cast<double>(r.gpu_ns[static_cast<std::size_t>(state)]) / kMinuteNs;
}

struct Figure {
  std::string_view name;
  double (*value_of)(const RunResult&);
};

double to_double(std::int64_t number) { return static_cast<double>(number); }

constexpr std::array kFigures = {
    Figure{"met_percent", [](const RunResult& r) { return to_double(r.attainment_ppm()) / 1e4; }},
    Figure{"unmet", [](const RunResult& r) { return to_double(r.requests.unmet()); }},
    Figure{"score", [](const RunResult& r) { return to_double(r.score_milli()) / 1e3; }},
    Figure{"usd", [](const RunResult& r) { return to_double(r.total_micro_usd()) / 1e6; }},
    Figure{"ttft_p99_s", [](const RunResult& r) { return to_double(r.ttft.p99_us) / 1e6; }},
    Figure{"gpu_hours", [](const RunResult& r) { return static_cast<double>(r.paid_gpu_ns()) / 3.6e12; }},
    Figure{"idle_gpu_minutes", [](const RunResult& r) { return to_double(experiment::idle_gpu_minutes(r)); }},
    Figure{"held_gpu_minutes", [](const RunResult& r) { return gpu_minutes(r, GpuState::held); }},
    Figure{"starting_gpu_minutes", [](const RunResult& r) { return gpu_minutes(r, GpuState::starting); }},
    Figure{"unallocated_gpu_minutes", [](const RunResult& r) { return gpu_minutes(r, GpuState::unallocated); }},
    Figure{"peak_replicas", [](const RunResult& r) { return to_double(r.replicas_peak); }},
    Figure{"cold_starts", [](const RunResult& r) { return to_double(r.cold_starts); }},
    Figure{"cold_start_p50_s", [](const RunResult& r) { return to_double(r.cold_start_p50.count()) / 1e9; }},
    Figure{"nodes_launched", [](const RunResult& r) { return to_double(r.nodes_launched); }},
    Figure{"reversals", [](const RunResult& r) { return to_double(r.reversals); }},
    Figure{"replicas_ended", [](const RunResult& r) { return to_double(r.disruptions.consolidation); }},
    Figure{"requests_cut", [](const RunResult& r) { return to_double(r.disruptions.requests_cut); }},
};

}  // namespace

std::optional<double> figure(const RunResult& result, std::string_view name) {
  const auto* found = std::ranges::find(kFigures, name, &Figure::name);
  return found == kFigures.end() ? std::nullopt : std::optional(found->value_of(result));
}

std::vector<std::string_view> figure_names() {
  std::vector<std::string_view> names;
  for (const Figure& item : kFigures) names.push_back(item.name);
  return names;
}

std::string figures_table(const experiment::Comparison& comparison) {
  constexpr std::array kStates = {GpuState::busy,     GpuState::idle,      GpuState::held,       GpuState::starting,
                                  GpuState::draining, GpuState::launching, GpuState::unallocated};
  std::string text = "| GPU minutes |";
  std::string line = "|---|";
  for (const GpuState state : kStates) {
    text += fmt::format(" {} |", sim::name(state));
    line += "---:|";
  }
  text += " most ready | cold starts, p50 | reversals | nodes bought, refused | requests cut |\n" + line +
          "---:|---:|---:|---:|---:|\n";
  for (const RunResult& r : comparison.results) {
    text += fmt::format("| {} |", r.policy);
    for (const GpuState state : kStates) {
      text += fmt::format(" {} |", grouped_text(static_cast<std::int64_t>(gpu_minutes(r, state) + 0.5)));
    }
    text += fmt::format(" {} | {}, {} s | {} | {}, {} | {} |\n", r.replicas_peak, r.cold_starts,
                        r.cold_start_p50.count() / 1'000'000'000, r.reversals, r.nodes_launched, r.nodes_refused,
                        r.disruptions.requests_cut);
  }
  return text;
}

}  // namespace capstan::golden
