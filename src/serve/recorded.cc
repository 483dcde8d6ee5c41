#include "serve/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "archive/replay.h"
#include "experiment/text/words.h"
#include "explain/candidates.h"
#include "explain/explain.h"
#include "model/signal_health.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;
using Value = Numbers::Value;

constexpr std::pair<const char*, Value Numbers::*> kSeries[] = {
    {"desired", &Numbers::desired}, {"ready", &Numbers::ready},   {"starting", &Numbers::starting},
    {"waiting", &Numbers::waiting}, {"silent", &Numbers::silent}, {"age_ms", &Numbers::age_ms}};

struct Moment {
  Instant at;
  std::map<std::string, Numbers> services;
};

struct ShownAction {
  std::int64_t state = 0;
  std::int64_t position = 0;  ///< number among the actions of its state
  Instant at;
  const char* layer = "";
  std::string text;
  std::string object;
  std::string arithmetic;
};

std::string dump_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// Returns a moment as `capstan replay --at` reads it.
std::string at_words(Instant at) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(at.since_start).count();
  return ms % 1000 == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}ms", ms);
}

/// Returns the decisions of a state as JSON.
std::string decisions_json(std::int64_t state, const std::vector<ShownAction>& actions,
                           const DecisionCommand& command) {
  const Instant at = actions.front().at;
  Json rows = Json::array();
  for (const ShownAction& action : actions) {
    rows.push_back(
        {{"arithmetic", action.arithmetic}, {"command", command({at_words(at), action.layer, action.object})}});
  }
  return dump_line(
      {{"format_version", 1}, {"state", state}, {"at_ns", at.since_start.count()}, {"decisions", std::move(rows)}});
}

/// Returns the actions of all layers.
std::vector<ShownAction> actions_of(std::int64_t position, const model::Snapshot& snapshot,
                                    const archive::Redecision& decided) {
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

template <typename Actions>
Json actions_json(const Actions& actions) {
  Json rows = Json::array();
  for (const ShownAction& action : actions) {
    rows.push_back({{"state", action.state},
                    {"position", action.position},
                    {"at_ns", action.at.since_start.count()},
                    {"layer", action.layer},
                    {"action", action.text}});
  }
  return rows;
}

Json value_json(const Value& value) { return value ? Json(*value) : Json(); }

void add(Value& sum, const model::Signal& signal) {
  if (signal.usable()) sum = sum.value_or(0) + signal.value;
}

Moment moment_of(const model::Snapshot& snapshot, const archive::Redecision& decided) {
  Moment moment{snapshot.at, {}};
  for (const auto& [id, numbers] : numbers_of(snapshot, decided)) {
    moment.services.emplace(snapshot.catalog->service(id).name, numbers);
  }
  return moment;
}

void keep_least(Value& least, const Value& value) {
  if (value && (!least || *value < *least)) least = value;
}
void keep_most(Value& most, const Value& value) {
  if (value && (!most || *value > *most)) most = value;
}

/// Returns at most `points` moments. With more, each pair of them holds the least and the most of several.
std::vector<Moment> thinned(std::vector<Moment> all, std::size_t points) {
  if (all.size() <= points) return all;
  const std::size_t buckets = std::max<std::size_t>(1, points / 2);
  std::vector<Moment> out;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::size_t from = all.size() * bucket / buckets, to = all.size() * (bucket + 1) / buckets;
    Moment least{all[from].at, {}}, most{all[to - 1].at, {}};
    for (std::size_t i = from; i < to; ++i) {
      for (const auto& [name, numbers] : all[i].services) {
        for (const auto& [key, field] : kSeries) {
          keep_least(least.services[name].*field, numbers.*field);
          keep_most(most.services[name].*field, numbers.*field);
        }
      }
    }
    out.push_back(std::move(least));
    out.push_back(std::move(most));
  }
  return out;
}

Json series_json(const std::vector<Moment>& moments) {
  std::map<std::string, Json> by_service;
  for (const Moment& moment : moments) {
    for (const auto& [name, numbers] : moment.services) by_service.try_emplace(name, Json::object());
  }
  Json all = Json::array();
  for (auto& [name, json] : by_service) {
    json["service"] = name;
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
  return all;
}

/// A recording as JSON, without the decisions of its states.
struct RecordingJson {
  std::string source{};
  std::string policy{};
  std::int64_t states = 0;
  Json at_ns = Json::array();
  Json services = Json::array();
  Json actions = Json::array();
  std::int64_t left_out = 0;  ///< older actions that are not among `actions`
  std::string command{};
};

std::string json_text(RecordingJson recording) {
  return dump_line({{"format_version", 1},
                    {"recording", std::move(recording.source)},
                    {"policy", std::move(recording.policy)},
                    {"states", recording.states},
                    {"at_ns", std::move(recording.at_ns)},
                    {"services", std::move(recording.services)},
                    {"actions", std::move(recording.actions)},
                    {"actions_left_out", recording.left_out},
                    {"command", std::move(recording.command)}});
}

/// Collects what the page shows, state after state.
class Collector {
 public:
  Collector(const RecordedLimits& limits, DecisionCommand command) : limits_(limits), command_(std::move(command)) {}

  void add(const archive::SavedState& state, const archive::Redecision& decided) {
    const model::Snapshot& snapshot = state.snapshot;
    if (states_ == 0) policy_ = state.policies.name;
    moments_.push_back(moment_of(snapshot, decided));
    std::vector<ShownAction> actions = actions_of(states_, snapshot, decided);
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

  RecordedPage finish(const std::string& path) && {
    const std::vector<Moment> moments = thinned(std::move(moments_), limits_.points);
    Json at = Json::array();
    for (const Moment& moment : moments) at.push_back(moment.at.since_start.count());
    RecordedPage recorded{json_text({.source = path,
                                     .policy = policy_,
                                     .states = states_,
                                     .at_ns = std::move(at),
                                     .services = series_json(moments),
                                     .actions = actions_json(actions_),
                                     .left_out = left_out_,
                                     .command = replay_words(path)}),
                          std::move(decisions_), states_};
    return recorded;
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

ServiceNumbers numbers_of(const model::Snapshot& snapshot, const archive::Redecision& decided) {
  ServiceNumbers by_id;
  snapshot.services.for_each([&](model::ServiceId id, const model::ServiceState& state) {
    Numbers& numbers = by_id[id];
    numbers.ready = numbers.starting = 0;
    add(numbers.waiting, state.gateway_waiting);
  });
  for (const decide::scale::Decision& decision : decided.scale) {
    if (const auto found = by_id.find(decision.service); found != by_id.end()) found->second.desired = decision.desired;
  }
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    const auto found = by_id.find(gang.service);
    if (found == by_id.end()) return;
    Numbers& numbers = found->second;
    *numbers.ready += gang.phase == model::Gang::Phase::ready ? 1 : 0;
    *numbers.starting += gang.phase == model::Gang::Phase::starting ? 1 : 0;
    add(numbers.waiting, snapshot.signals_of(id).waiting);
  });
  for (const auto& [service, health] : model::signal_health(snapshot)) {
    const auto found = by_id.find(service);
    if (found == by_id.end()) continue;
    found->second.silent = health.silent;
    found->second.age_ms = health.oldest / std::chrono::milliseconds(1);
  }
  return by_id;
}

ShownState show_state(std::int64_t position, const archive::SavedState& state, const archive::Redecision& decided,
                      const DecisionCommand& command) {
  const model::Snapshot& snapshot = state.snapshot;
  const std::vector<ShownAction> actions = actions_of(position, snapshot, decided);
  Json json = {{"state", position}, {"at_ns", snapshot.at.since_start.count()}, {"services", Json::object()}};
  for (const auto& [name, numbers] : moment_of(snapshot, decided).services) {
    for (const auto& [key, field] : kSeries) json["services"][name][key] = value_json(numbers.*field);
  }
  json["actions"] = actions_json(actions);
  ShownState shown{dump_line(json), {}};
  if (!actions.empty()) shown.decisions = decisions_json(position, actions, command);
  return shown;
}

std::string arithmetic_of(const archive::SavedState& state, const archive::Redecision& decided) {
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
  return std::move(collector).finish(path);
}

}  // namespace capstan::serve
