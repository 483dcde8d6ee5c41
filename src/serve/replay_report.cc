#include "serve/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/unit_text.h"
#include "experiment/text/layout.h"
#include "experiment/text/moment.h"
#include "experiment/text/words.h"
#include "explain/explain.h"
#include "serve/recorded.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;
using archive::RepeatedDecisions;
using archive::ReplayedState;

using Plans = std::vector<const model::Plan*>;
using Outcomes = std::vector<std::optional<archive::RecordedOutcome>>;

constexpr std::size_t kMaxReasons = 5;  ///< largest number of reasons for no action that are printed for one plan

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
                 ReplayLines& lines) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    lines.push_back({explain::line(*state.snapshot.catalog, plan.actions[i], &state.names), true});
    if (first + i < outcomes.size()) lines.back().outcome = outcomes[first + i];
  }
}

void add_reasons(const archive::SavedState& state, const model::Plan& plan, ReplayLines& lines) {
  const model::Catalog& catalog = *state.snapshot.catalog;
  const std::size_t shown = std::min(plan.no_actions.size(), kMaxReasons);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back({explain::line(catalog, plan.no_actions[i])});
  const auto further = std::ssize(plan.no_actions) - static_cast<std::int64_t>(shown);
  if (further > 0) lines.push_back({count_text(further, "further reason", "further reasons")});
}

/// Returns a line for each action. If there is no action, returns the reasons of the services.
/// @param outcomes  outcomes of the actions; empty: the recording has none
ReplayLines lines_of(const archive::SavedState& state, const RepeatedDecisions& decided, const Outcomes& outcomes) {
  ReplayLines lines;
  for (const model::Plan* plan : plans_of(decided)) add_actions(state, *plan, outcomes, lines.size(), lines);
  if (!lines.empty()) return lines;
  for (const decide::scale::Decision& decision : decided.scale) add_reasons(state, decision.plan, lines);
  return lines;
}

/// Returns the line for a plan that has neither an action nor a reason.
/// @param number  position of the plan in the list that `plans_of` returns
/// @param plans   number of plans in that list
std::string no_action_words(std::size_t number, std::size_t plans) {
  if (number + 1 == plans) return "no action on nodes";
  return number + 2 == plans ? "no action on pods" : "no action on replicas";
}

/// Returns the lines of the plans that differ from the plans of another decision. A plan gives its actions, or if it
/// has none, its reasons.
/// @param outcomes  outcomes of the actions of all plans; empty: the recording has none
ReplayLines differing_lines(const archive::SavedState& state, const RepeatedDecisions& decided,
                            const RepeatedDecisions& other, const Outcomes& outcomes) {
  ReplayLines lines;
  const Plans own = plans_of(decided), others = plans_of(other);
  std::size_t first = 0;  // position of the plan's first action among all actions
  for (std::size_t i = 0; i < own.size(); first += own[i++]->actions.size()) {
    if (i < others.size() && archive::have_same_actions(*own[i], *others[i])) continue;
    const std::size_t before = lines.size();
    add_actions(state, *own[i], outcomes, first, lines);
    if (lines.size() == before) add_reasons(state, *own[i], lines);
    if (lines.size() == before) lines.push_back({no_action_words(i, own.size())});
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
std::string marked(const ReplayLine& line, bool has_outcomes) {
  if (!line.is_action || !has_outcomes) return line.text;
  const std::string mark = line.outcome ? archive::outcome_words(*line.outcome) : "no outcome";
  return mark.empty() ? line.text : fmt::format("[{}] {}", mark, line.text);
}

Json texts_json(const ReplayLines& lines) {
  Json json = Json::array();
  for (const ReplayLine& line : lines) json.push_back(line.text);
  return json;
}

/// Adds an array with the outcome of each line to an object; null for a line without one. Adds nothing if no line is an
/// action, or if the recording has no outcomes.
void add_outcomes(const ReplayLines& lines, bool has_outcomes, Json& json) {
  const bool has_actions = std::ranges::any_of(lines, [](const ReplayLine& line) { return line.is_action; });
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

}  // namespace

Result<ReplayReport> replay_report(archive::Recording& recording, const archive::OtherPolicies& other) {
  ReplayReport all;
  all.compares = other.any();
  all.has_outcomes = recording.has_outcomes();
  std::optional<Error> unreadable;
  const Result<archive::ReplayCount> count = archive::replay(recording, other, [&](const ReplayedState& replayed) {
    const model::Snapshot& snapshot = replayed.state.snapshot;
    if (all.policy.empty()) all.policy = replayed.state.policies.name, all.first = snapshot.at;
    all.last = snapshot.at;
    const bool is_shown = all.compares ? replayed.differs && all.states.empty() : acts(replayed.recorded);
    if (!is_shown) return true;
    const Result<Outcomes> outcomes = outcomes_of(recording, replayed);
    if (!outcomes) unreadable = outcomes.error();
    if (!outcomes) return false;
    const auto& [state, own, other_decided, differs] = replayed;
    ReplayedLines& shown = all.states.emplace_back();
    shown.at = snapshot.at;
    shown.recorded =
        all.compares ? differing_lines(state, own, other_decided, *outcomes) : lines_of(state, own, *outcomes);
    if (all.compares) shown.other = differing_lines(state, other_decided, own, {});
    return true;
  });
  if (!count) return std::unexpected(count.error());
  if (unreadable) return std::unexpected(*unreadable);
  all.count = *count;
  return all;
}

std::string replay_json(const ReplayReport& all) {
  Json json = {{"format_version", 1},
               {"policy", all.policy},
               {"from_ns", all.first.since_start.count()},
               {"to_ns", all.last.since_start.count()},
               {"states", all.count.states}};
  if (all.count.damaged > 0) json["states_damaged"] = all.count.damaged;
  if (all.compares) json["differing"] = all.count.differing;
  Json& rows = json[all.compares ? "first_difference" : "actions"] = Json::array();
  for (const ReplayedLines& shown : all.states) {
    Json row = {{"at_ns", shown.at.since_start.count()}, {"recorded", texts_json(shown.recorded)}};
    if (all.compares) row["other"] = texts_json(shown.other);
    add_outcomes(shown.recorded, all.has_outcomes, row);
    rows.push_back(std::move(row));
  }
  return json.dump(2) + "\n";
}

std::string replay_text(const ReplayReport& all, std::size_t width) {
  std::string out = fmt::format("{} of \"{}\", {} to {}\n", count_text(all.count.states, "state", "states"), all.policy,
                                experiment::moment_words(all.first), experiment::moment_words(all.last));
  if (all.count.damaged > 0) {
    out += fmt::format("{} and left out.\n",
                       count_text(all.count.damaged, "further state is damaged", "further states are damaged"));
  }
  for (const ReplayedLines& shown : all.states) {
    const auto add = [&](const std::string& name, const ReplayLines& lines, bool has_outcomes) {
      for (const ReplayLine& line : lines) out += experiment::wrapped(name, marked(line, has_outcomes), width);
    };
    if (!all.compares) {
      add(experiment::moment_words(shown.at) + "  ", shown.recorded, all.has_outcomes);
      continue;
    }
    out += fmt::format("\nThe first decision that differs is at {}:\n", experiment::moment_words(shown.at));
    add("  recorded  ", shown.recorded, all.has_outcomes);
    add("  other     ", shown.other, false);
  }
  if (!all.compares) return out;
  if (all.count.differing == 0) return out + "\nThe other policy takes the same actions in every state.\n";
  const std::string note = fmt::format(
      "{} of {} states differ. Only the first difference is certain, because the recorded states do not show what the "
      "other policy would have changed.",
      all.count.differing, all.count.states);
  return out + "\n" + experiment::wrapped_lines(note, width);
}

Result<ReplayedMoment> replayed_moment(archive::Recording& recording, const std::string& at) {
  std::optional<Instant> from;
  std::optional<Error> unreadable;
  std::optional<ReplayedMoment> moment;
  const Result<archive::ReplayCount> count = archive::replay(recording, {}, [&](const ReplayedState& replayed) {
    const model::Snapshot& snapshot = replayed.state.snapshot;
    if (!from) {
      const Result<Instant> read = experiment::read_recorded_moment(at, snapshot.at);
      if (!read) unreadable = read.error();
      if (!read) return false;
      from = *read;
    }
    if (snapshot.at < *from) return true;
    const Result<Outcomes> outcomes = outcomes_of(recording, replayed);
    if (!outcomes) unreadable = outcomes.error();
    if (!outcomes) return false;
    moment = ReplayedMoment{.policy = replayed.state.policies.name,
                            .at = snapshot.at,
                            .lines = lines_of(replayed.state, replayed.recorded, *outcomes),
                            .arithmetic = arithmetic_of(replayed.state, replayed.recorded),
                            .has_outcomes = recording.has_outcomes()};
    return false;
  });
  if (!count) return std::unexpected(count.error());
  if (unreadable) return std::unexpected(*unreadable);
  if (moment) return *std::move(moment);
  return std::unexpected(Error{ErrorKind::usage, "--at " + at, 0, 0, "the recording ends before this moment"});
}

std::string moment_json(const ReplayedMoment& moment) {
  Json json = {{"format_version", 1},
               {"policy", moment.policy},
               {"at_ns", moment.at.since_start.count()},
               {"actions", texts_json(moment.lines)},
               {"arithmetic", moment.arithmetic}};
  add_outcomes(moment.lines, moment.has_outcomes, json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string moment_text(const ReplayedMoment& moment, std::size_t width) {
  std::string marks;  // the actions with their outcomes
  for (const ReplayLine& line : moment.lines) {
    if (line.is_action && moment.has_outcomes) marks += marked(line, true) + "\n";
  }
  if (!marks.empty()) marks = "\n" + marks;
  std::string arithmetic = experiment::sentence_lines(moment.arithmetic);
  if (arithmetic.ends_with('\n')) arithmetic.pop_back();
  return fmt::format("{} of \"{}\"\n\n{}{}", experiment::moment_words(moment.at), moment.policy,
                     experiment::wrapped_lines(arithmetic, width), marks);
}

}  // namespace capstan::serve
