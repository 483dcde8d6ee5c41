#include "serve/recorded_history.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/report/history_json.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a recorder that assigns each gang to its service. A gang without a service has no user.
experiment::HistoryRecorder new_recorder() {
  return experiment::HistoryRecorder([](const model::Gang& gang) {
    return gang.service.valid() ? std::size_t{gang.service.value} : experiment::GangHistory::kNoUser;
  });
}

template <typename Id, typename Row>
std::vector<Id> changed(const SharedTable<Id, Row>& before, const SharedTable<Id, Row>& now) {
  std::vector<Id> ids;
  now.for_each_change(before, [&](Id id, const Row*, const Row*) { ids.push_back(id); });
  return ids;
}

/// Returns the changes of the tables that the history reads.
model::Delta delta_between(const model::Snapshot& before, const model::Snapshot& now) {
  model::Delta delta;
  delta.nodes = changed(before.nodes, now.nodes);
  delta.claims = changed(before.claims, now.claims);
  delta.gangs = changed(before.gangs, now.gangs);
  delta.pods = changed(before.pods, now.pods);
  return delta;
}

/// Reads a number at the start of a text and removes it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Returns the revision in a place such as "3.120" (generation, revision). Returns 0 if the generation is another one
/// or there is no such revision.
std::int64_t revision_of(std::string_view place, std::int64_t generation, std::int64_t newest) {
  if (take_number(place) != generation || !place.starts_with('.')) return 0;
  place.remove_prefix(1);
  const std::int64_t revision = take_number(place).value_or(0);
  return place.empty() && revision > 0 && revision <= newest ? revision : 0;
}

}  // namespace

RecordedHistory::RecordedHistory(std::int64_t generation) : generation_(generation), recorder_(new_recorder()) {}

void RecordedHistory::note(const archive::SavedState& state, const archive::RepeatedDecisions& decided) {
  const std::lock_guard lock(mutex_);
  const model::Snapshot& now = state.snapshot;
  const auto is_full = [&](std::size_t rows, std::size_t further) {
    return rows + further > experiment::RunHistory::kMaxRows;
  };
  const model::Delta delta = delta_between(before_, now);
  const experiment::RunHistory& history = recorder_.history();
  if (is_full(history.nodes.size(), delta.nodes.size()) || is_full(history.gangs.size(), delta.gangs.size()) ||
      history.use.size() + now.catalog->services.size() * 2 > experiment::RunHistory::kMaxUse) {
    recorder_.drop_ended(before_);
    ++generation_;
  }
  recorder_.note_rows(now, delta, &state.names);
  recorder_.note_waits(decided.place, decided.provision, *now.catalog, now.at);
  before_ = now;
}

void RecordedHistory::clear() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  recorder_ = new_recorder();
  before_ = {};
}

std::string RecordedHistory::json(std::string_view after) const {
  const std::lock_guard lock(mutex_);
  const experiment::RunHistory& history = recorder_.history();
  const std::int64_t revision = revision_of(after, generation_, history.revision);
  Json json = {{"format_version", 1},
               {"place", fmt::format("{}.{}", generation_, history.revision)},
               {"is_whole", revision == 0},
               {"at_ns", before_.at.since_start.count()}};
  const model::Catalog none;
  const model::Catalog& catalog = before_.catalog == nullptr ? none : *before_.catalog;
  json["services"] = experiment::services_json(catalog, {});
  json["queues"] = experiment::queues_json(catalog);
  json["fleet"] = experiment::fleet_changes_json(history, revision);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capstan::serve
