#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/replay.h"
#include "cli/terminal.h"
#include "experiment/text/layout.h"
#include "experiment/text/moment.h"
#include "experiment/text/words.h"
#include "explain/explain.h"
#include "manifest/fields.h"
#include "serve/recorded.h"
#include "settings/policy.h"

namespace capstan::cli {
namespace {

using Json = nlohmann::ordered_json;
using archive::RepeatedDecisions;
using archive::ReplayedState;

/// Reads a file with the keys scale, place and provision.
std::expected<archive::OtherPolicies, manifest::Errors> read_policies(const std::string& path) {
  archive::OtherPolicies out;
  if (path.empty()) return out;
  const Result<manifest::Node> root = manifest::parse_file(path);
  if (!root) return std::unexpected(manifest::Errors(root.error()));
  manifest::ErrorList errors;
  errors.max_errors = manifest::ErrorList::kMaxErrors;
  manifest::Fields fields(*root, "policy", errors);
  if (const manifest::Node* layer = fields.take("scale")) out.scale = settings::read_scale(*layer, errors);
  if (const manifest::Node* layer = fields.take("place")) out.place = settings::read_place(*layer, errors);
  if (const manifest::Node* layer = fields.take("provision")) {
    out.provision = settings::read_provision(*layer, "provision", errors);
  }
  fields.finish();
  if (errors.ok() && !out.any()) errors.fail(root->place, "no policy is given, expected scale, place or provision");
  if (!errors.ok()) return std::unexpected(errors.all());
  return out;
}

using Plans = std::vector<const model::Plan*>;
using Outcomes = std::vector<std::optional<archive::RecordedOutcome>>;

constexpr std::size_t kMaxReasons = 5;  ///< largest number of reasons for no action that are printed for one plan

/// An action, or a reason why there is none.
struct Line {
  std::string text;
  bool is_action = false;
  std::optional<archive::RecordedOutcome> outcome{};  ///< outcome of an action; no value: the recording has none
};
using Lines = std::vector<Line>;

/// Returns the plans of the services, then that of the pods and that of the nodes.
Plans plans_of(const RepeatedDecisions& decided) {
  Plans plans;
  for (const decide::scale::Decision& decision : decided.scale) plans.push_back(&decision.plan);
  plans.push_back(&decided.place.plan);
  plans.push_back(&decided.provision.plan);
  return plans;
}

/// @param outcomes  outcomes of the actions of all plans, in their order; empty: the recording has none
/// @param first     position of the plan's first action in `outcomes`
void add_actions(const archive::SavedState& state, const model::Plan& plan, const Outcomes& outcomes, std::size_t first,
                 Lines& lines) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    lines.push_back({explain::line(*state.snapshot.catalog, plan.actions[i], &state.names), true});
    if (first + i < outcomes.size()) lines.back().outcome = outcomes[first + i];
  }
}

void add_reasons(const archive::SavedState& state, const model::Plan& plan, Lines& lines) {
  const model::Catalog& catalog = *state.snapshot.catalog;
  const std::size_t shown = std::min(plan.no_actions.size(), kMaxReasons);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back({explain::line(catalog, plan.no_actions[i])});
  const auto further = std::ssize(plan.no_actions) - static_cast<std::int64_t>(shown);
  if (further > 0) lines.push_back({experiment::counted(further, "further reason", "further reasons")});
}

/// Returns a line for each action. If there is no action, returns the reasons of the services.
/// @param outcomes  outcomes of the actions; empty: the recording has none
Lines lines_of(const archive::SavedState& state, const RepeatedDecisions& decided, const Outcomes& outcomes) {
  Lines lines;
  for (const model::Plan* plan : plans_of(decided)) add_actions(state, *plan, outcomes, lines.size(), lines);
  if (!lines.empty()) return lines;
  for (const decide::scale::Decision& decision : decided.scale) add_reasons(state, decision.plan, lines);
  return lines;
}

/// Returns the lines of the plans that differ from the plans of another decision. A plan gives its actions, or if it
/// has none, its reasons.
/// @param outcomes  outcomes of the actions of all plans; empty: the recording has none
Lines differing_lines(const archive::SavedState& state, const RepeatedDecisions& decided,
                      const RepeatedDecisions& other, const Outcomes& outcomes) {
  Lines lines;
  const Plans own = plans_of(decided), others = plans_of(other);
  std::size_t first = 0;  // position of the plan's first action among all actions
  for (std::size_t i = 0; i < own.size(); first += own[i++]->actions.size()) {
    if (i < others.size() && archive::have_same_actions(*own[i], *others[i])) continue;
    const std::size_t before = lines.size();
    add_actions(state, *own[i], outcomes, first, lines);
    if (lines.size() == before) add_reasons(state, *own[i], lines);
    if (lines.size() == before) lines.push_back({i + 1 == own.size() ? "no action on nodes" : "no action on pods"});
  }
  return lines;
}

/// Returns for each action of a state its outcome; empty if it has no actions or the recording has no outcomes.
Result<Outcomes> outcomes_of(archive::Recording& recording, const ReplayedState& replayed) {
  if (!recording.has_outcomes()) return Outcomes();
  Result<std::vector<archive::RecordedOutcome>> outcomes = recording.outcomes_of(replayed.state.number);
  if (!outcomes) return std::unexpected(outcomes.error());
  return archive::outcomes_by_action(archive::action_keys(replayed.recorded), *std::move(outcomes));
}

/// Returns the text of a line, with a mark before an action unless it was carried out.
/// @param has_outcomes  false: the recording has no outcomes
std::string marked(const Line& line, bool has_outcomes) {
  if (!line.is_action || !has_outcomes) return line.text;
  const std::string mark = line.outcome ? archive::outcome_words(*line.outcome) : "no outcome";
  return mark.empty() ? line.text : fmt::format("[{}] {}", mark, line.text);
}

Json texts_json(const Lines& lines) {
  Json json = Json::array();
  for (const Line& line : lines) json.push_back(line.text);
  return json;
}

/// Adds an array with the outcome of each line to an object; null for a line without one. Adds nothing if no line is an
/// action, or if the recording has no outcomes.
void add_outcomes(const Lines& lines, bool has_outcomes, Json& json) {
  const bool has_actions = std::ranges::any_of(lines, [](const Line& line) { return line.is_action; });
  if (!has_outcomes || !has_actions) return;
  Json& rows = json["outcomes"] = Json::array();
  for (const auto& [text, is_action, outcome] : lines) {
    rows.push_back(Json());
    if (!outcome) continue;
    rows.back() = {{"result", std::string(archive::name(outcome->result))}};
    if (!outcome->why.empty()) rows.back()["why"] = outcome->why;
  }
}

bool acts(const RepeatedDecisions& decided) {
  const auto some = [](const auto& decision) { return !decision.plan.actions.empty(); };
  return std::ranges::any_of(decided.scale, some) || some(decided.place) || some(decided.provision);
}

/// The lines of one recorded state.
struct ShownState {
  Instant at{};
  Lines recorded{};
  Lines other{};  ///< lines of the other policies; empty without such policies
};

struct ReplayResult {
  std::string policy;              ///< name of the recorded policy
  std::vector<ShownState> states;  ///< states with actions; with other policies, only the first state that differs
  Instant first{};
  Instant last{};
  bool has_outcomes = false;  ///< true: the recording has the outcomes of its actions
  archive::ReplayCount count{};
};

std::string json_text(const ReplayResult& all, bool compares) {
  Json json = {{"format_version", 1},
               {"policy", all.policy},
               {"from_ns", all.first.since_start.count()},
               {"to_ns", all.last.since_start.count()},
               {"states", all.count.states}};
  if (all.count.damaged > 0) json["states_damaged"] = all.count.damaged;
  if (compares) json["differing"] = all.count.differing;
  Json& rows = json[compares ? "first_difference" : "actions"] = Json::array();
  for (const ShownState& shown : all.states) {
    Json row = {{"at_ns", shown.at.since_start.count()}, {"recorded", texts_json(shown.recorded)}};
    if (compares) row["other"] = texts_json(shown.other);
    add_outcomes(shown.recorded, all.has_outcomes, row);
    rows.push_back(std::move(row));
  }
  return json.dump(2) + "\n";
}

std::string text(const ReplayResult& all, bool compares, std::size_t width) {
  std::string out = fmt::format("{} of \"{}\", {} to {}\n", experiment::counted(all.count.states, "state", "states"),
                                all.policy, experiment::moment_words(all.first), experiment::moment_words(all.last));
  if (all.count.damaged > 0) {
    out += fmt::format("{} and left out.\n", experiment::counted(all.count.damaged, "further state is damaged",
                                                                 "further states are damaged"));
  }
  for (const ShownState& shown : all.states) {
    const auto add = [&](const std::string& name, const Lines& lines, bool has_outcomes) {
      for (const Line& line : lines) out += experiment::wrapped(name, marked(line, has_outcomes), width);
    };
    if (!compares) {
      add(experiment::moment_words(shown.at) + "  ", shown.recorded, all.has_outcomes);
      continue;
    }
    out += fmt::format("\nThe first decision that differs is at {}:\n", experiment::moment_words(shown.at));
    add("  recorded  ", shown.recorded, all.has_outcomes);
    add("  other     ", shown.other, false);
  }
  if (!compares) return out;
  if (all.count.differing == 0) return out + "\nThe other policy takes the same actions in every state.\n";
  const std::string note = fmt::format(
      "{} of {} states differ. Only the first difference is certain, because the recorded states do not show what the "
      "other policy would have changed.",
      all.count.differing, all.count.states);
  return out + "\n" + experiment::wrapped_lines(note, width);
}

/// Prints the arithmetic of the first state at or after a moment.
ExitCode print_moment(archive::Recording& recording, const ReplayArguments& arguments) {
  std::optional<Instant> from;
  std::optional<Error> unreadable;
  Json json;
  std::string marks;  // the actions with their outcomes
  const Result<archive::ReplayCount> count = archive::replay(recording, {}, [&](const ReplayedState& replayed) {
    const model::Snapshot& snapshot = replayed.state.snapshot;
    if (!from) {
      const Result<Instant> at = experiment::read_recorded_moment(arguments.at, snapshot.at);
      if (!at) unreadable = at.error();
      if (!at) return false;
      from = *at;
    }
    if (snapshot.at < *from) return true;
    const Result<Outcomes> outcomes = outcomes_of(recording, replayed);
    if (!outcomes) unreadable = outcomes.error();
    if (!outcomes) return false;
    const Lines lines = lines_of(replayed.state, replayed.recorded, *outcomes);
    json = {{"format_version", 1},
            {"policy", replayed.state.policies.name},
            {"at_ns", snapshot.at.since_start.count()},
            {"actions", texts_json(lines)},
            {"arithmetic", serve::arithmetic_of(replayed.state, replayed.recorded)}};
    add_outcomes(lines, recording.has_outcomes(), json);
    for (const Line& line : lines) {
      if (line.is_action && recording.has_outcomes()) marks += marked(line, true) + "\n";
    }
    return false;
  });
  if (!count) return report(count.error());
  if (unreadable) return report(*unreadable);
  if (json.is_null()) {
    return report({ErrorKind::usage, "--at " + arguments.at, 0, 0, "the recording ends before this moment"});
  }
  if (arguments.output == Output::json) return print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  const Instant moment{Duration(json["at_ns"].get<std::int64_t>())};
  if (!marks.empty()) marks = "\n" + marks;
  std::string arithmetic = experiment::sentence_lines(json["arithmetic"].get<std::string>());
  if (arithmetic.ends_with('\n')) arithmetic.pop_back();
  return print(fmt::format("{} of \"{}\"\n\n{}{}", experiment::moment_words(moment), json["policy"].get<std::string>(),
                           experiment::wrapped_lines(arithmetic, static_cast<std::size_t>(output_width())), marks));
}

}  // namespace

ExitCode replay(const ReplayArguments& arguments) {
  const auto other = read_policies(arguments.policy);
  if (!other) return report(other.error());
  Result<archive::Recording> recording = archive::Recording::open(arguments.recording);
  if (!recording) return report(recording.error());
  if (!arguments.at.empty()) return print_moment(*recording, arguments);
  const bool compares = other->any();
  ReplayResult all;
  all.has_outcomes = recording->has_outcomes();
  std::optional<Error> unreadable;
  const Result<archive::ReplayCount> count = archive::replay(*recording, *other, [&](const ReplayedState& replayed) {
    const model::Snapshot& snapshot = replayed.state.snapshot;
    if (all.policy.empty()) all.policy = replayed.state.policies.name, all.first = snapshot.at;
    all.last = snapshot.at;
    const bool is_shown = compares ? replayed.differs && all.states.empty() : acts(replayed.recorded);
    if (!is_shown) return true;
    const Result<Outcomes> outcomes = outcomes_of(*recording, replayed);
    if (!outcomes) unreadable = outcomes.error();
    if (!outcomes) return false;
    const auto& [state, own, other_decided, differs] = replayed;
    ShownState& shown = all.states.emplace_back();
    shown.at = snapshot.at;
    shown.recorded = compares ? differing_lines(state, own, other_decided, *outcomes) : lines_of(state, own, *outcomes);
    if (compares) shown.other = differing_lines(state, other_decided, own, {});
    return true;
  });
  if (!count) return report(count.error());
  if (unreadable) return report(*unreadable);
  all.count = *count;
  const ExitCode printed =
      print(arguments.output == Output::json ? json_text(all, compares)
                                             : text(all, compares, static_cast<std::size_t>(output_width())));
  return printed != kOk ? printed : all.count.differing > 0 ? kFindings : kOk;
}

}  // namespace capstan::cli
