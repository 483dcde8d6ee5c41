#include "cli/plan_report.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/replace_file.h"
#include "experiment/report/render.h"
#include "experiment/run/batch.h"
#include "experiment/run/ranking.h"
#include "experiment/text/words.h"
#include "plan/figures.h"
#include "plan/files.h"
#include "plan/measure/use_measured_load.h"
#include "serve/page.h"

namespace capstan::cli {
namespace {

constexpr std::size_t kFleetsMost = 4;  ///< fleets of the frontier on the page, next to the scalers of the plan

/// A simulation of the plan, and the name of its policy on the page.
struct ProofRun {
  std::string name{};
  const std::string* scenario = nullptr;
};

/// Returns the chosen fleet with each scaler, and the other fleets of the frontier.
std::vector<ProofRun> proof_runs(const plan::ServicePlan& planned) {
  std::vector<ProofRun> runs;
  const auto add = [&](std::string name, const std::string& scenario) {
    const auto is_same = [&](const ProofRun& run) { return *run.scenario == scenario; };
    if (scenario.empty() || std::ranges::any_of(runs, is_same)) return false;
    runs.push_back({std::move(name), &scenario});
    return true;
  };
  add(std::string(plan::scaler_word(planned.scaler)) + ", the plan", planned.scenario);
  for (const plan::ScalerVariant& variant : planned.variants) {
    if (variant.kind != planned.scaler) add(std::string(plan::scaler_word(variant.kind)), variant.scenario);
  }
  std::size_t fleets = 0;
  for (const plan::FrontierPoint& point : planned.frontier) {
    if (fleets < kFleetsMost && add(point.short_fleet, point.scenario)) ++fleets;
  }
  return runs;
}

/// Reads a scenario of the plan, whose only policy gets the name of the run.
Result<scenario::Scenario> read_proof(const plan::ServiceSpec& spec, const ProofRun& run) {
  scenario::ScenarioResult read = scenario::parse_scenario(*run.scenario, "scenario-" + spec.name + ".yaml");
  if (!read) return std::unexpected(read.error().list.front());
  plan::use_measured_load(spec.load.profile_text, *read);
  read->policies.resize(1);
  read->policies.front().policies.name = run.name;
  return std::move(*read);
}

}  // namespace

Result<experiment::Comparison> prove_plan(const plan::Plan& made, std::size_t service,
                                          const plan::SearchOptions& options) {
  const plan::ServicePlan& planned = made.services.at(service);
  const plan::ServiceSpec& spec = made.spec.services.at(service);
  std::vector<scenario::Scenario> scenarios;
  for (const ProofRun& run : proof_runs(planned)) {
    Result<scenario::Scenario> read = read_proof(spec, run);
    if (!read) return std::unexpected(std::move(read.error()));
    scenarios.push_back(std::move(*read));
  }
  std::vector<experiment::PlannedRun> runs;
  for (const scenario::Scenario& each : scenarios) {
    runs.push_back({.scenario = &each, .policy = &each.policies.front(), .keep_history = true});
  }
  Result<std::vector<experiment::RunResult>> results = experiment::run_batch(runs, options.jobs, "proof", {});
  if (!results) return std::unexpected(std::move(results.error()));
  experiment::Comparison comparison = experiment::describe(scenarios.front());
  comparison.results = std::move(*results);
  experiment::rank(comparison.results, comparison.slo);
  return comparison;
}

std::string plan_report_path(const plan::Plan& made, std::size_t service, const std::string& path) {
  if (made.services.size() == 1) return path;
  const std::filesystem::path whole(path);
  std::filesystem::path own = whole.stem();
  own += "-" + made.services[service].service;
  own += whole.extension();
  return (whole.parent_path() / own).string();
}

Result<void> write_plan_report(const plan::Plan& made, const plan::SearchOptions& options, const std::string& path) {
  for (std::size_t i = 0; i < made.services.size(); ++i) {
    const plan::ServicePlan& service = made.services[i];
    const Result<experiment::Comparison> proof = prove_plan(made, i, options);
    if (!proof) return std::unexpected(proof.error());
    // The scenario is one of the files of --out, whose folder the reader knows.
    const std::string command = "capstan sim " + experiment::shell_word(plan::scenario_file(service, service.scaler));
    const std::string json = experiment::render_json(*proof, {.decisions = true, .command = command, .compact = true});
    if (Result<void> written = replace_file(plan_report_path(made, i, path), serve::page(json)); !written)
      return written;
  }
  return {};
}

}  // namespace capstan::cli
