#include "cli/offline.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "decide/scale/scale.h"
#include "experiment/run/job_names.h"
#include "experiment/run/prepare.h"
#include "experiment/text/layout.h"
#include "experiment/text/moment.h"
#include "explain/explain.h"
#include "explain/object.h"
#include "manifest/errors.h"
#include "manifest/fields.h"
#include "manifest/scalars.h"

namespace capstan::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> paragraphs(const archive::SavedState& state, const archive::RepeatedDecisions& all,
                                    Layer layer) {
  const model::Catalog& catalog = *state.snapshot.catalog;
  std::vector<std::string> out;
  if (layer == Layer::scale) {
    for (const auto& decision : all.scale) out.push_back(explain::paragraph(catalog, decision));
  }
  if (layer == Layer::place) out.push_back(explain::paragraph(catalog, all.place, &state.names));
  if (layer == Layer::provision) out.push_back(explain::paragraph(catalog, all.provision));
  return out;
}

std::vector<std::string> documents(const model::Catalog& catalog, const archive::RepeatedDecisions& all, Layer layer) {
  std::vector<std::string> out;
  if (layer == Layer::scale) {
    for (const auto& decision : all.scale) out.push_back(explain::json(catalog, decision));
  }
  if (layer == Layer::place) out.push_back(explain::json(catalog, all.place));
  if (layer == Layer::provision) out.push_back(explain::json(catalog, all.provision));
  return out;
}

bool changes(const archive::RepeatedDecisions& all, Layer layer) {
  if (layer == Layer::place) return !all.place.plan.actions.empty();
  if (layer == Layer::provision) return !all.provision.plan.actions.empty();
  return std::ranges::any_of(all.scale, [](const auto& decision) { return !decision.plan.actions.empty(); });
}

/// Returns the state that the controller saw at its first decision at or after `at`; without `at`, at its last
/// decision.
Result<archive::SavedState> state_at(const scenario::Scenario& scenario, std::optional<Instant> at) {
  const scenario::PolicySpec& policy = scenario.policies.front();
  if (const Result<void> known = check_memory_is_known(policy, "--policy"); !known) {
    return std::unexpected(known.error());
  }
  experiment::PreparedRun prepared = experiment::prepare(scenario, policy, scenario.seed);
  std::optional<archive::SavedState> state;
  prepared.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                      const control::DueDecisions& due) {
    // Only states with a decision about replicas count, unless `at` is exactly the moment of another decision. A
    // decision log states such moments.
    const bool scales = !due.services || !due.services->empty();
    if (!scales && at != snapshot.at) return;
    if (!at || (!state && snapshot.at >= *at)) {
      state = {snapshot, experiment::job_names(snapshot, prepared.setup.cluster), policy.policies, memory};
    }
  };
  prepared.setup.should_end = [&] { return at && state; };
  const Result<experiment::RunResult> run = [&] {
    ProgressReport report(progress_output());
    return experiment::simulate(prepared.setup, [&](const experiment::Progress& progress) { report.note(progress); });
  }();
  if (!run) return std::unexpected(run.error());
  if (!state) {
    return std::unexpected(
        Error{ErrorKind::usage, "--at", 0, 0,
              fmt::format("{}the run ends after {}, expected a moment before that",
                          at ? experiment::moment_words(*at) + ": " : "", manifest::duration_text(run->simulated))});
  }
  return std::move(*state);
}

std::expected<archive::SavedState, manifest::Errors> one_error(Result<archive::SavedState> state) {
  if (!state) return std::unexpected(manifest::Errors(state.error()));
  return std::move(*state);
}

/// Returns the state of a scenario at a moment as written on the command line.
std::expected<archive::SavedState, manifest::Errors> state_of_scenario(const std::string& file,
                                                                       const scenario::ScenarioOverrides& overrides,
                                                                       const std::string& at_text) {
  const Result<Instant> at = read_moment(at_text);
  if (!at) return std::unexpected(manifest::Errors(at.error()));
  return simulated_state(file, overrides, *at);
}

}  // namespace

Result<Instant> read_moment(const std::string& text) { return experiment::read_recorded_moment(text, Instant{}); }

std::expected<archive::SavedState, manifest::Errors> simulated_state(const std::string& file,
                                                                     const scenario::ScenarioOverrides& overrides,
                                                                     std::optional<Instant> at) {
  const scenario::ScenarioResult scenario = scenario::read_scenario(file, overrides);
  if (!scenario) return std::unexpected(scenario.error());
  return one_error(state_at(*scenario, at));
}

Result<void> check_memory_is_known(const scenario::PolicySpec& policy, const std::string& option) {
  if (std::ranges::none_of(policy.peers, [](const auto& peer) { return peer.has_value(); })) return {};
  return std::unexpected(Error{
      ErrorKind::usage, option, 0, 0,
      fmt::format("\"{}\" is a peer's autoscaler, whose memory is not part of a snapshot", policy.policies.name)});
}

ExitCode print_decision(const archive::SavedState& state, Layer layer, Output output) {
  archive::RepeatedDecisions all = archive::redecide(state);
  // A service that was deleted keeps its place in the catalog. The decision in this place is about no service, so it is
  // left out.
  std::erase_if(all.scale, [&](const auto& decision) { return !state.snapshot.services.find(decision.service); });
  const model::Catalog& catalog = *state.snapshot.catalog;
  std::string text;
  if (output == Output::json) {
    Json json = {{"format_version", 1}, {"decisions", Json::array()}};
    for (const std::string& document : documents(catalog, all, layer))
      json["decisions"].push_back(Json::parse(document));
    text = json.dump(2) + "\n";
  } else {
    const auto width = static_cast<std::size_t>(output_width());
    for (const std::string& paragraph : paragraphs(state, all, layer)) {
      text += experiment::wrapped_lines(experiment::sentence_lines(paragraph), width);
    }
  }
  const ExitCode printed = print(text);
  return printed != kOk ? printed : changes(all, layer) ? kFindings : kOk;
}

ExitCode decide(const DecideArguments& arguments) {
  const Result<archive::SavedState> state = archive::read(arguments.snapshot);
  return state ? print_decision(*state, arguments.layer, arguments.output) : report(state.error());
}

ExitCode explain(const ExplainArguments& arguments) {
  if (arguments.object.empty()) {
    return report(
        {ErrorKind::usage, "capstan explain", 0, 0,
         "no object is named, expected the name of a service, pod, gang or node, such as `capstan explain chat`, "
         "or one of the commands signals and reason"});
  }
  if (arguments.snapshot.empty() && arguments.scenario.empty()) {
    return report({ErrorKind::usage, "capstan explain", 0, 0, "no state is given, expected --snapshot or --scenario"});
  }
  const std::expected<archive::SavedState, manifest::Errors> state =
      arguments.snapshot.empty() ? state_of_scenario(arguments.scenario, arguments.overrides, arguments.at)
                                 : one_error(archive::read(arguments.snapshot));
  if (!state) return report(state.error());
  const Result<explain::Object> object = explain::find_object(state->snapshot, state->names, arguments.object);
  if (!object) return report(object.error());
  const archive::RepeatedDecisions all = archive::redecide(*state);
  const explain::Answer account = explain::explain_object(
      *object, state->snapshot, state->names, {all.scale, all.place, all.provision},
      arguments.snapshot.empty() ? explain::Environment::simulation : explain::Environment::cluster);
  // A scenario has several policies. The policies of a cluster are written in its InferenceScalers.
  const std::string policy = arguments.snapshot.empty() ? state->policies.name : "";
  if (arguments.output == Output::json) {
    const std::string document = explain::json(*state->snapshot.catalog, arguments.object, policy, account);
    return print(Json::parse(document).dump(2) + "\n");
  }
  const bool is_chosen = !arguments.overrides.policies.empty();
  const std::string_view choice = is_chosen ? "" : " (the scenario's first; --policy NAME explains another)";
  std::string text = policy.empty() ? "" : fmt::format("policy:  {}{}\n", policy, choice);
  text += explain::lines(account.summary) + "\n";
  if (arguments.verbose) {
    text += '\n' + experiment::wrapped_lines(experiment::sentence_lines(account.text),
                                             static_cast<std::size_t>(output_width()));
  }
  return print(text);
}

ExitCode snapshot(const SnapshotArguments& arguments) {
  if (arguments.scenario.empty()) {
    const Result<archive::SavedState> state = live_state(arguments.cluster);
    return state ? print(archive::to_json(*state)) : report(state.error());
  }
  const auto state = state_of_scenario(arguments.scenario, arguments.overrides, arguments.at);
  return state ? print(archive::to_json(*state)) : report(state.error());
}

}  // namespace capstan::cli
