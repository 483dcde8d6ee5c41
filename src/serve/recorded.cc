#include "serve/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/measured_result.h"
#include "archive/replay.h"
#include "experiment/text/moment.h"
#include "experiment/text/words.h"
#include "explain/candidates.h"
#include "explain/explain.h"
#include "model/signal_health.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;
using Value = ServiceFigures::Value;

constexpr std::pair<const char*, Value ServiceFigures::*> kSeries[] = {
    {"desired", &ServiceFigures::desired},
    {"ready", &ServiceFigures::ready},
    {"starting", &ServiceFigures::starting},
    {"waiting", &ServiceFigures::waiting},
    {"silent", &ServiceFigures::silent},
    {"age_ms", &ServiceFigures::age_ms},
    {"running", &ServiceFigures::running},
    {"late_ppm", &ServiceFigures::late_ppm},
    {"late_allowed_ppm", &ServiceFigures::late_allowed_ppm},
    {"ttft_p99_us", &ServiceFigures::ttft_p99_us},
    {"ttft_slo_us", &ServiceFigures::ttft_slo_us},
    {"tpot_p99_us", &ServiceFigures::tpot_p99_us},
    {"tpot_slo_us", &ServiceFigures::tpot_slo_us}};

struct Moment {
  Instant at;
  std::map<std::string, ServiceFigures> services;
};

struct ShownAction {
  std::int64_t state = 0;
  std::int64_t position = 0;  ///< number among the actions of its state
  Instant at;
  const char* layer = "";
  std::string text;
  std::string object;
  std::string arithmetic;
  std::optional<archive::RecordedOutcome> outcome{};
};

std::string dump_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// Returns the decisions of a state as JSON.
std::string decisions_json(std::int64_t state, const std::vector<ShownAction>& actions,
                           const DecisionCommand& command) {
  const Instant at = actions.front().at;
  Json rows = Json::array();
  for (const ShownAction& action : actions) {
    rows.push_back({{"arithmetic", action.arithmetic},
                    {"command", command({experiment::moment_argument(at), action.layer, action.object})}});
  }
  return dump_line(
      {{"format_version", 1}, {"state", state}, {"at_ns", at.since_start.count()}, {"decisions", std::move(rows)}});
}

/// Returns the actions of all layers.
std::vector<ShownAction> actions_of(std::int64_t position, const model::Snapshot& snapshot,
                                    const archive::RepeatedDecisions& decided) {
  const model::Catalog& catalog = *snapshot.catalog;
  const explain::LayerDecisions layers{decided.scale, decided.place, decided.provision};
  std::vector<ShownAction> all;
  const auto add_plan = [&](const char* layer, const model::Plan& plan) {
    for (const model::Action& action : plan.actions) {
      all.push_back({.state = position,
                     .position = std::ssize(all),
                     .at = snapshot.at,
                     .layer = layer,
                     .text = explain::line(catalog, action),
                     .object = explain::object_of(catalog, action),
                     .arithmetic = explain::arithmetic(catalog, layers, action)});
    }
  };
  for (const decide::scale::Decision& decision : decided.scale) add_plan("scale", decision.plan);
  add_plan("place", decided.place.plan);
  add_plan("provision", decided.provision.plan);
  return all;
}

void add_outcome(Json& json, const archive::RecordedOutcome& outcome) {
  json["result"] = std::string(archive::name(outcome.result));
  if (!outcome.why.empty()) json["result_why"] = outcome.why;
}

template <typename Actions>
Json actions_json(const Actions& actions) {
  Json rows = Json::array();
  for (const ShownAction& action : actions) {
    rows.push_back({{"state", action.state},
                    {"position", action.position},
                    {"at_ns", action.at.since_start.count()},
                    {"layer", action.layer},
                    {"action", action.text}});
    if (action.outcome) add_outcome(rows.back(), *action.outcome);
  }
  return rows;
}

Json value_json(const Value& value) { return value ? Json(*value) : Json(); }

void add(Value& sum, const model::Signal& signal) {
  if (signal.usable()) sum = sum.value_or(0) + signal.value;
}

void raise(Value& largest, const model::Signal& signal) {
  if (signal.usable()) largest = std::max(largest.value_or(0), signal.value);
}

/// Returns the share of late requests of a replica: the largest share that it reports.
Value late_share(const model::ReplicaSignals& signals) {
  Value worst;
  for (const model::Signal* share : {&signals.ttft_late_ppm, &signals.queue_late_ppm, &signals.tpot_late_ppm}) {
    if (share->usable()) worst = std::max(worst.value_or(0), share->value);
  }
  return worst;
}

Moment moment_of(const model::Snapshot& snapshot, const archive::RepeatedDecisions& decided) {
  Moment moment{snapshot.at, {}};
  for (const auto& [id, numbers] : numbers_of(snapshot, decided)) {
    moment.services.emplace(snapshot.catalog->service(id).name, numbers);
  }
  return moment;
}

/// Returns the value that ranks a moment in a series: the sum over all services.
std::int64_t sum_of(const Moment& moment, Value ServiceFigures::* field) {
  std::int64_t sum = 0;
  for (const auto& [name, numbers] : moment.services) sum += (numbers.*field).value_or(0);
  return sum;
}

bool differ(const Moment& a, const Moment& b, Value ServiceFigures::* field) {
  const auto same = [&](const auto& one, const auto& other) {
    return one.first == other.first && one.second.*field == other.second.*field;
  };
  return !std::ranges::equal(a.services, b.services, same);
}

/// Adds at most `most` of the moments at which a series changes. If there are more, divides them into stretches. Each
/// stretch adds its first and its last moment, and the moments with the least and the largest value.
void keep_changes(const std::vector<Moment>& all, Value ServiceFigures::* field, std::size_t most,
                  std::set<std::size_t>& kept) {
  std::vector<std::size_t> changes;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (differ(all[i - 1], all[i], field) && !kept.contains(i)) changes.push_back(i);
  }
  if (changes.size() <= most) {
    kept.insert(changes.begin(), changes.end());
    return;
  }
  const auto value = [&](std::size_t i) { return sum_of(all[i], field); };
  const std::size_t stretches = most / 4;
  for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
    const auto from = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() * stretch / stretches);
    const auto to = changes.begin() + static_cast<std::ptrdiff_t>(changes.size() * (stretch + 1) / stretches);
    const auto [least, largest] = std::ranges::minmax_element(from, to, {}, value);
    kept.insert({*from, *least, *largest, *(to - 1)});
  }
}

/// Returns at most `points` of the moments, each with its own values, so that no change is drawn before it happened.
/// The changes of the wanted replicas have precedence over the changes of the other series.
std::vector<Moment> thinned(std::vector<Moment> all, std::size_t points) {
  if (all.size() <= points) return all;
  std::set<std::size_t> kept = {0, all.size() - 1};
  for (const auto& [key, field] : kSeries) {
    const std::size_t left = points > kept.size() ? points - kept.size() : 0;
    const bool is_last = field == std::end(kSeries)[-1].second;
    keep_changes(all, field, is_last ? left : left / 2, kept);
  }
  std::vector<Moment> out;
  for (const std::size_t i : kept) out.push_back(std::move(all[i]));
  return out;
}

/// Returns the moments of the states, and the values of every service at them.
Json series_json(const std::vector<Moment>& moments) {
  std::map<std::string, Json> by_service;
  for (const Moment& moment : moments) {
    for (const auto& [name, numbers] : moment.services) by_service.try_emplace(name, Json::object());
  }
  Json all = Json::array();
  for (auto& [name, json] : by_service) {
    json["name"] = name;
    for (const auto& [key, field] : kSeries) {
      Json& values = json[key] = Json::array();
      for (const Moment& moment : moments) {
        const auto found = moment.services.find(name);
        const Value value = found == moment.services.end() ? Value() : found->second.*field;
        values.push_back(value_json(value));
      }
    }
    all.push_back(std::move(json));
  }
  Json at = Json::array();
  for (const Moment& moment : moments) at.push_back(moment.at.since_start.count());
  return {{"at_ns", std::move(at)}, {"services", std::move(all)}};
}

/// A recording as a result in JSON, without the decisions of its states.
struct RecordingJson {
  std::string source{};
  std::string policy{};
  std::int64_t states = 0;
  std::int64_t damaged = 0;  ///< damaged states of the recording, which are left out
  Json by_state = {{"at_ns", Json::array()}, {"services", Json::array()}};
  Json actions = Json::array();
  std::int64_t left_out = 0;  ///< older actions that are not among `actions`
  std::string command{};
};

/// Returns the recording in the form of a result with one policy.
/// @param result  the result of the simulation that was recorded; null: a controller saw the states, and nothing
///                measured them
/// @param seen    the nodes and replicas, as `RecordedHistory::json` writes them; null: they are not known yet
std::string json_text(RecordingJson recording, Json result = nullptr, Json seen = nullptr) {
  if (result.is_null()) result = {{"format_version", 1}, {"policies", Json::array({Json::object()})}};
  result["recording"] = std::move(recording.source);
  result["states"] = recording.states;
  result["states_damaged"] = recording.damaged;
  result["command"] = std::move(recording.command);
  if (!seen.is_null()) {
    result["services"] = std::move(seen["services"]);
    result["queues"] = std::move(seen["queues"]);
    result["history_place"] = std::move(seen["place"]);
  }
  // A new key of the result may move the policy to another place, so this reference is taken after the last one.
  Json& policy = result["policies"][0];
  policy["policy"] = std::move(recording.policy);
  policy["by_state"] = std::move(recording.by_state);
  policy["actions"] = std::move(recording.actions);
  policy["actions_left_out"] = recording.left_out;
  if (!seen.is_null()) policy["fleet"] = std::move(seen["fleet"]);
  return dump_line(result);
}

/// Reads the result of the simulation that was recorded. Returns null if a controller was recorded.
Result<Json> read_result(const std::string& path) {
  const Result<std::string> text = archive::read_measured(path);
  if (!text) return std::unexpected(text.error());
  if (text->empty()) return Json();
  const Json result = Json::parse(*text, nullptr, false);
  const bool has_policy = result.is_object() && result.contains("policies") && result["policies"].is_array() &&
                          result["policies"].size() == 1 && result["policies"][0].is_object();
  if (!has_policy) return std::unexpected(Error::about(path, "the measured result is damaged, expected one policy"));
  return result;
}

/// Collects what the page shows, state after state.
class Collector {
 public:
  Collector(const RecordedLimits& limits, DecisionCommand command) : limits_(limits), command_(std::move(command)) {}

  void add(const archive::SavedState& state, const archive::RepeatedDecisions& decided) {
    const model::Snapshot& snapshot = state.snapshot;
    if (states_ == 0) policy_ = state.policies.name;
    moments_.push_back(moment_of(snapshot, decided));
    std::vector<ShownAction> actions = actions_of(states_, snapshot, decided);
    awaited_.add(state.number, states_, decided);
    if (!actions.empty()) decisions_.emplace(states_, decisions_json(states_, actions, command_));
    for (ShownAction& action : actions) {
      action.arithmetic.clear();
      actions_.push_back(std::move(action));
    }
    for (; actions_.size() > limits_.actions; ++left_out_) actions_.pop_front();
    const std::int64_t first = actions_.empty() ? states_ : actions_.front().state;
    decisions_.erase(decisions_.begin(), decisions_.lower_bound(first));
    ++states_;
  }

  void add(const archive::RecordedOutcome& outcome) {
    const std::optional<ShownOutcome> shown = awaited_.take(outcome.state, outcome);
    if (!shown) return;
    const auto place_of = [](const ShownAction& action) { return std::pair(action.state, action.position); };
    const auto action = std::ranges::lower_bound(actions_, std::pair(shown->state, shown->position), {}, place_of);
    if (action != actions_.end() && place_of(*action) == std::pair(shown->state, shown->position)) {
      action->outcome = outcome;
    }
  }

  /// Returns the recording with the actions, the states and the outcomes that were added.
  RecordingJson json(const std::string& path, std::int64_t damaged) {
    return {.source = path,
            .policy = policy_,
            .states = states_,
            .damaged = damaged,
            .by_state = series_json(thinned(std::move(moments_), limits_.points)),
            .actions = actions_json(actions_),
            .left_out = left_out_,
            .command = replay_words(path)};
  }

  /// @param json  the data of the page
  RecordedPage finish(std::string json) && {
    return {std::move(json), std::move(decisions_), states_, std::move(awaited_)};
  }

 private:
  const RecordedLimits& limits_;
  DecisionCommand command_;
  std::int64_t states_ = 0;
  std::string policy_;
  std::vector<Moment> moments_;
  std::deque<ShownAction> actions_;
  std::int64_t left_out_ = 0;
  std::map<std::int64_t, std::string> decisions_;
  AwaitedOutcomes awaited_;
};

}  // namespace

std::string empty_recording(const std::string& source, const std::string& policy, const std::string& command) {
  return json_text({.source = source, .policy = policy, .command = command});
}

std::string replay_words(const std::string& path) { return "capstan replay " + experiment::shell_word(path); }

DecisionCommand replay_command(const std::string& path) {
  return [command = replay_words(path)](const CommandSubject& subject) { return command + " --at " + subject.at; };
}

DecisionCommand now_command(const std::string& ns) {
  std::string snapshot = "capstan snapshot";
  if (!ns.empty()) snapshot += " --namespace " + experiment::shell_word(ns);
  snapshot += " > now.json && capstan ";
  return [snapshot](const CommandSubject& subject) {
    // Another process numbers gangs and nodes anew, so only the names of services are the same.
    if (subject.layer != "scale" || subject.object.empty()) return snapshot + "decide " + subject.layer + " now.json";
    return snapshot + "explain " + experiment::shell_word(subject.object) + " --snapshot now.json --verbose";
  };
}

FiguresOfServices numbers_of(const model::Snapshot& snapshot, const archive::RepeatedDecisions& decided) {
  FiguresOfServices by_id;
  snapshot.services.for_each([&](model::ServiceId id, const model::ServiceState& state) {
    ServiceFigures& numbers = by_id[id];
    numbers.ready = numbers.starting = 0;
    add(numbers.waiting, state.gateway_waiting);
    const model::Slo& slo = snapshot.catalog->service(id).slo;
    const bool has_slo = std::max({slo.ttft, slo.tpot, slo.e2e}) > Duration{};
    if (has_slo) numbers.late_allowed_ppm = 1'000'000 - slo.attainment_ppm;
    if (slo.ttft > Duration{}) numbers.ttft_slo_us = slo.ttft / std::chrono::microseconds(1);
    if (slo.tpot > Duration{}) numbers.tpot_slo_us = slo.tpot / std::chrono::microseconds(1);
  });
  std::map<model::ServiceId, std::pair<std::int64_t, std::int64_t>> late;  // sum of the shares and number of replicas
  for (const decide::scale::Decision& decision : decided.scale) {
    if (const auto found = by_id.find(decision.service); found != by_id.end()) found->second.desired = decision.desired;
  }
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    const auto found = by_id.find(gang.service);
    if (found == by_id.end()) return;
    ServiceFigures& numbers = found->second;
    *numbers.ready += gang.phase == model::Gang::Phase::ready ? 1 : 0;
    *numbers.starting += gang.phase == model::Gang::Phase::starting ? 1 : 0;
    const model::ReplicaSignals& signals = snapshot.signals_of(id);
    add(numbers.waiting, signals.waiting);
    add(numbers.running, signals.running);
    if (gang.phase != model::Gang::Phase::ready) return;
    if (const Value share = late_share(signals)) {
      late[gang.service].first += *share;
      ++late[gang.service].second;
    }
    raise(numbers.ttft_p99_us, signals.ttft_p99_us);
    raise(numbers.tpot_p99_us, signals.tpot_p99_us);
  });
  for (const auto& [service, sum] : late) by_id[service].late_ppm = sum.first / sum.second;
  for (const auto& [service, health] : model::signal_health(snapshot)) {
    const auto found = by_id.find(service);
    if (found == by_id.end()) continue;
    found->second.silent = health.silent;
    found->second.age_ms = health.oldest / std::chrono::milliseconds(1);
  }
  return by_id;
}

ShownState show_state(std::int64_t position, const archive::SavedState& state,
                      const archive::RepeatedDecisions& decided, const DecisionCommand& command,
                      const std::vector<ShownOutcome>& outcomes) {
  const model::Snapshot& snapshot = state.snapshot;
  const std::vector<ShownAction> actions = actions_of(position, snapshot, decided);
  Json json = {{"state", position}, {"at_ns", snapshot.at.since_start.count()}, {"services", Json::object()}};
  for (const auto& [name, numbers] : moment_of(snapshot, decided).services) {
    for (const auto& [key, field] : kSeries) json["services"][name][key] = value_json(numbers.*field);
  }
  json["actions"] = actions_json(actions);
  for (const ShownOutcome& shown : outcomes) {
    Json& row = json["outcomes"].emplace_back(Json{{"state", shown.state}, {"position", shown.position}});
    add_outcome(row, shown.outcome);
  }
  ShownState shown{dump_line(json), {}};
  if (!actions.empty()) shown.decisions = decisions_json(position, actions, command);
  return shown;
}

std::string arithmetic_of(const archive::SavedState& state, const archive::RepeatedDecisions& decided) {
  const model::Catalog& catalog = *state.snapshot.catalog;
  std::string text;
  const auto add = [&](const std::string& paragraph) { text += (text.empty() ? "" : "\n\n") + paragraph; };
  for (const decide::scale::Decision& decision : decided.scale) {
    if (state.snapshot.services.find(decision.service) != nullptr) add(explain::paragraph(catalog, decision));
  }
  if (state.policies.place) add(explain::paragraph(catalog, decided.place));
  if (state.policies.provision) add(explain::paragraph(catalog, decided.provision));
  return text + "\n";
}

Result<RecordedPage> read_recorded(archive::Recording& recording, const std::string& path,
                                   const std::function<void(std::int64_t, std::int64_t)>& progress,
                                   RecordedHistory* history, const RecordedLimits& limits) {
  Collector collector(limits, replay_command(path));
  std::int64_t position = 0;
  const Result<archive::ReplayCount> count =
      archive::replay(recording, {}, [&](const archive::ReplayedState& replayed) {
        collector.add(replayed.state, replayed.recorded);
        if (history != nullptr) history->note(replayed.state, replayed.recorded);
        if (progress) progress(++position, recording.states());
        return true;
      });
  if (!count) return std::unexpected(count.error());
  if (count->states == 0)
    return std::unexpected(Error::about(path, "the recording is empty, expected at least one decision"));
  const Result<std::vector<archive::RecordedOutcome>> outcomes = recording.new_outcomes();
  if (!outcomes) return std::unexpected(outcomes.error());
  for (const archive::RecordedOutcome& outcome : *outcomes) collector.add(outcome);
  Result<Json> result = read_result(path);
  if (!result) return std::unexpected(result.error());
  Json seen = history == nullptr ? Json() : Json::parse(history->json(""));
  std::string json = json_text(collector.json(path, count->damaged), *std::move(result), std::move(seen));
  return std::move(collector).finish(std::move(json));
}

}  // namespace capstan::serve
