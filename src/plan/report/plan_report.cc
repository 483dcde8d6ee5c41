#include "plan/report/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/report/render.h"
#include "experiment/run/batch.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"
#include "plan/measure/use_measured_load.h"
#include "plan/result/figures.h"
#include "plan/result/file_names.h"

namespace capstan::plan {
namespace {

constexpr std::size_t kMaxFleets = 4;  ///< fleets of the frontier on the page, next to the scalers of the plan

/// A simulation of the plan, and the name of its policy on the page.
struct ProofRun {
  std::string name{};
  const std::string* scenario = nullptr;
  std::optional<ScalerKind> scaler{};  ///< scaler whose scenario `--out` writes; none: a fleet of the frontier
};

/// Returns the chosen fleet with each scaler, and at most `kMaxFleets` other fleets of the frontier.
std::vector<ProofRun> proof_runs(const ServicePlan& planned) {
  std::vector<ProofRun> runs;
  const auto add = [&](std::string name, const std::string& scenario, std::optional<ScalerKind> scaler) {
    const auto is_same = [&](const ProofRun& run) { return *run.scenario == scenario; };
    if (scenario.empty() || std::ranges::any_of(runs, is_same)) return false;
    runs.push_back({std::move(name), &scenario, scaler});
    return true;
  };
  add(std::string(scaler_word(planned.scaler)) + ", the plan", planned.scenario, planned.scaler);
  for (const ScalerVariant& variant : planned.variants) {
    if (variant.kind == planned.scaler) continue;
    add(std::string(scaler_word(variant.kind)), variant.scenario, variant.kind);
  }
  std::size_t fleets = 0;
  for (const FrontierPoint& point : planned.frontier) {
    if (fleets < kMaxFleets && add(point.short_fleet, point.scenario, {})) ++fleets;
  }
  return runs;
}

/// Returns the name that a run's policy has in its scenario.
std::string name_in_scenario(const ServiceSpec& spec, const ProofRun& run) {
  const scenario::ScenarioResult read = scenario::parse_scenario(*run.scenario, "scenario-" + spec.name + ".yaml");
  return read ? read->policies.front().policies.name : std::string();
}

/// Returns the sentences below the table.
std::string choice_words(const experiment::RunResult& chosen) {
  const std::string name = chosen.policy.substr(0, chosen.policy.find(", the plan"));
  return fmt::format(
      "The plan chooses {}: {} met for {} USD here. The plan compares the scalers under several seeds, and this page "
      "shows one of them, so another scaler may cost less here.",
      (name == "constant fleet" ? "a " : "") + name, experiment::share_text(chosen.attainment_ppm()),
      experiment::usd(chosen.total_micro_usd()));
}

/// Reads a scenario of the plan, whose only policy gets the name of the run.
Result<scenario::Scenario> read_proof(const ServiceSpec& spec, const ProofRun& run) {
  scenario::ScenarioResult read = scenario::parse_scenario(*run.scenario, "scenario-" + spec.name + ".yaml");
  if (!read) return std::unexpected(read.error().list.front());
  use_measured_load(spec.load.profile_text, *read);
  read->policies.resize(1);
  read->policies.front().policies.name = run.name;
  return std::move(*read);
}

}  // namespace

Result<experiment::Comparison> prove_plan(const ServiceSpec& spec, const ServicePlan& planned,
                                          const SearchOptions& options) {
  std::vector<scenario::Scenario> scenarios;
  for (const ProofRun& run : proof_runs(planned)) {
    Result<scenario::Scenario> read = read_proof(spec, run);
    if (!read) return std::unexpected(std::move(read.error()));
    scenarios.push_back(std::move(*read));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const scenario::Scenario& seed : scenarios) {
    runs.push_back({.scenario = &seed, .policy = &seed.policies.front(), .keep_history = true});
  }
  Result<std::vector<experiment::RunResult>> results = experiment::run_batch(runs, options.jobs, "proof", {});
  if (!results) return std::unexpected(std::move(results.error()));
  experiment::Comparison comparison = experiment::describe(scenarios.front());
  comparison.results = std::move(*results);
  experiment::rank(comparison.results, comparison.slo);
  // The page marks the first row, so the plan is moved there: it may not be the cheapest fleet under this seed.
  const std::string chosen = scenarios.front().policies.front().policies.name;
  std::ranges::stable_partition(comparison.results,
                                [&](const experiment::RunResult& result) { return result.policy == chosen; });
  return comparison;
}

std::string plan_report_path(const PlanSpec& spec, const std::string& service, const std::string& path) {
  if (spec.services.size() == 1) return path;
  const std::filesystem::path whole(path);
  std::filesystem::path own = whole.stem();
  own += "-" + service;
  own += whole.extension();
  return (whole.parent_path() / own).string();
}

std::string plan_report_json(const ServiceSpec& spec, const ServicePlan& planned, const experiment::Comparison& proof,
                             const PlanReportOptions& report) {
  using Json = nlohmann::ordered_json;
  Json json =
      Json::parse(experiment::render_json(proof, {.decisions = true, .command = report.command, .compact = true}));
  json["chosen"] = proof.results.front().policy;
  json["marked"] = json["chosen"];
  json["verdict"] = choice_words(proof.results.front());
  for (const ProofRun& run : proof_runs(planned)) {
    if (report.out.empty() || !run.scaler) continue;
    const auto is_run = [&](const Json& row) { return row["policy"] == run.name; };
    const auto row = std::ranges::find_if(json["policies"], is_run);
    if (row == json["policies"].end()) continue;
    const std::string file = (std::filesystem::path(report.out) / scenario_file(planned, *run.scaler)).string();
    (*row)["command"] = "capstan sim " + experiment::shell_word(file);
    (*row)["name_in_scenario"] = name_in_scenario(spec, run);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capstan::plan
