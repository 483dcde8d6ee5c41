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
using archive::Redecision;
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

constexpr std::size_t kReasonsMost = 5;  ///< most reasons for no action that are printed of one plan

/// Returns the plans of the services, then that of the pods and that of the nodes.
Plans plans_of(const Redecision& decided) {
  Plans plans;
  for (const decide::scale::Decision& decision : decided.scale) plans.push_back(&decision.plan);
  plans.push_back(&decided.place.plan);
  plans.push_back(&decided.provision.plan);
  return plans;
}

void add_actions(const archive::SavedState& state, const model::Plan& plan, std::vector<std::string>& lines) {
  for (const model::Action& action : plan.actions) {
    lines.push_back(explain::line(*state.snapshot.catalog, action, &state.names));
  }
}

void add_reasons(const archive::SavedState& state, const model::Plan& plan, std::vector<std::string>& lines) {
  const model::Catalog& catalog = *state.snapshot.catalog;
  const std::size_t shown = std::min(plan.no_actions.size(), kReasonsMost);
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(explain::line(catalog, plan.no_actions[i]));
  const auto further = std::ssize(plan.no_actions) - static_cast<std::int64_t>(shown);
  if (further > 0) lines.push_back(experiment::counted(further, "further reason", "further reasons"));
}

/// Returns a line for each action, or the reasons of the services if there is none.
std::vector<std::string> lines_of(const archive::SavedState& state, const Redecision& decided) {
  std::vector<std::string> lines;
  for (const model::Plan* plan : plans_of(decided)) add_actions(state, *plan, lines);
  if (!lines.empty()) return lines;
  for (const decide::scale::Decision& decision : decided.scale) add_reasons(state, decision.plan, lines);
  return lines;
}

/// Returns the lines of the plans that differ from those of another decision: their actions, or their reasons if they
/// have none.
std::vector<std::string> differing_lines(const archive::SavedState& state, const Redecision& decided,
                                         const Redecision& other) {
  std::vector<std::string> lines;
  const Plans own = plans_of(decided), others = plans_of(other);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i < others.size() && archive::have_same_actions(*own[i], *others[i])) continue;
    const std::size_t before = lines.size();
    add_actions(state, *own[i], lines);
    if (lines.size() == before) add_reasons(state, *own[i], lines);
    if (lines.size() == before) lines.emplace_back(i + 1 == own.size() ? "no action on nodes" : "no action on pods");
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

/// Returns the line of an action, with a mark before it unless it was carried out.
std::string marked(const std::string& line, const std::optional<archive::RecordedOutcome>& outcome) {
  const std::string mark = outcome ? archive::outcome_words(*outcome) : "no outcome";
  return mark.empty() ? line : fmt::format("[{}] {}", mark, line);
}

Json outcome_json(const std::optional<archive::RecordedOutcome>& outcome) {
  if (!outcome) return {};
  Json json = {{"result", std::string(archive::name(outcome->result))}};
  if (!outcome->why.empty()) json["why"] = outcome->why;
  return json;
}

bool acts(const Redecision& decided) {
  const auto some = [](const auto& decision) { return !decision.plan.actions.empty(); };
  return std::ranges::any_of(decided.scale, some) || some(decided.place) || some(decided.provision);
}

/// The lines of one recorded state.
struct Shown {
  Instant at;
  std::vector<std::string> recorded;
  Outcomes outcomes{};               ///< of `recorded`; empty: the recording has none
  std::vector<std::string> other{};  ///< lines of the other policies; empty if they act alike
};

struct ReplayResult {
  std::string policy;         ///< name of the recorded policy
  std::vector<Shown> states;  ///< states with actions; with other policies, only the first state that differs
  Instant first{};
  Instant last{};
  archive::ReplayCount count;
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
  for (const Shown& shown : all.states) {
    Json row = {{"at_ns", shown.at.since_start.count()}, {"recorded", shown.recorded}};
    if (compares) row["other"] = shown.other;
    for (const auto& outcome : shown.outcomes) row["outcomes"].push_back(outcome_json(outcome));
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
  for (const Shown& shown : all.states) {
    const auto add = [&](std::string_view name, const std::vector<std::string>& lines) {
      for (const std::string& line : lines) out += experiment::wrapped(std::string(name), line, width);
    };
    if (!compares) {
      std::vector<std::string> lines = shown.recorded;
      for (std::size_t i = 0; i < shown.outcomes.size(); ++i) lines[i] = marked(lines[i], shown.outcomes[i]);
      add(experiment::moment_words(shown.at) + "  ", lines);
      continue;
    }
    out += fmt::format("\nThe first decision that differs is at {}:\n", experiment::moment_words(shown.at));
    add("  recorded  ", shown.recorded);
    add("  other     ", shown.other);
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
    json = {{"format_version", 1},
            {"policy", replayed.state.policies.name},
            {"at_ns", snapshot.at.since_start.count()},
            {"actions", lines_of(replayed.state, replayed.recorded)},
            {"arithmetic", serve::arithmetic_of(replayed.state, replayed.recorded)}};
    const Result<Outcomes> outcomes = outcomes_of(recording, replayed);
    if (!outcomes) unreadable = outcomes.error();
    if (!outcomes) return false;
    for (std::size_t i = 0; i < outcomes->size(); ++i) {
      json["outcomes"].push_back(outcome_json((*outcomes)[i]));
      marks += marked(json["actions"][i].get<std::string>(), (*outcomes)[i]) + "\n";
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
  return print(fmt::format("{} of \"{}\"\n\n{}{}", experiment::moment_words(moment), json["policy"].get<std::string>(),
                           json["arithmetic"].get<std::string>(), marks));
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
  std::optional<Error> unreadable;
  const Result<archive::ReplayCount> count = archive::replay(*recording, *other, [&](const ReplayedState& replayed) {
    const model::Snapshot& snapshot = replayed.state.snapshot;
    if (all.policy.empty()) all.policy = replayed.state.policies.name, all.first = snapshot.at;
    all.last = snapshot.at;
    const bool is_shown = compares ? replayed.differs && all.states.empty() : acts(replayed.recorded);
    if (!is_shown) return true;
    if (!compares) {
      Result<Outcomes> outcomes = outcomes_of(*recording, replayed);
      if (!outcomes) unreadable = outcomes.error();
      if (!outcomes) return false;
      all.states.push_back({snapshot.at, lines_of(replayed.state, replayed.recorded), *std::move(outcomes)});
    }
    if (compares) {
      all.states.push_back({snapshot.at,
                            differing_lines(replayed.state, replayed.recorded, replayed.other),
                            {},
                            differing_lines(replayed.state, replayed.other, replayed.recorded)});
    }
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
