#include "experiment/run/run_history.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/known_row.h"
#include "model/reason_sentence.h"
#include "model/signal_health.h"
#include "sim/cluster/gpu_user.h"

namespace capstan::experiment {
namespace {

std::string domain_of(const model::Catalog& catalog, const model::Node& node, model::TopologyLevel level) {
  const model::DomainId id = node.domains.domain_at(level);
  return id.valid() ? catalog.domain(id).name : "";
}

/// Returns the price of a node; no value: it is unknown.
std::optional<MicroUsd> known_price(const model::Offering& offering) {
  return offering.price_per_hour > MicroUsd{} ? std::optional(offering.price_per_hour) : std::nullopt;
}

bool takes_pods(const model::Node& node) { return node.phase == model::Node::Phase::ready; }

/// Returns why no node is bought for a gang, or which node is on its way; empty if the decision does not mention the
/// gang.
std::string supply_words(const decide::provision::Decision& bought, const model::Catalog& catalog, model::GangId gang) {
  for (const model::Plan::NoAction& kept : bought.plan.no_actions) {
    if (kept.subject == model::Plan::NoAction::Subject::gang && kept.id == gang.value) {
      return model::sentence(kept.why, catalog);
    }
  }
  return "";
}

bool waits(decide::place::PlacementResult::Kind kind) {
  using Kind = decide::place::PlacementResult::Kind;
  return kind == Kind::cannot_fit_now || kind == Kind::held_by_queue || kind == Kind::never_fits ||
         kind == Kind::nominated;
}

}  // namespace

HistoryRecorder::HistoryRecorder(const sim::ClusterConfig& config)
    : user_of_([&config](const model::Gang& gang) { return sim::gpu_user(config, gang); }) {}

void HistoryRecorder::note(const ports::Observation& seen) {
  note_rows(seen.snapshot, seen.delta);
  note_signals(seen.snapshot);
}

void HistoryRecorder::note_rows(const model::Snapshot& now, const model::Delta& delta, const model::Names* names) {
  ++history_.revision;
  for (const model::ClaimId id : delta.claims) {
    const model::Claim* claim = now.claims.find(id);
    if (claim == nullptr) continue;
    ClaimTimes& times = claims_.try_emplace(id, ClaimTimes{.requested_at = claim->requested_at}).first->second;
    if (claim->phase != model::Claim::Phase::requested && times.launched_at.is_never()) times.launched_at = now.at;
    if (is_of_cluster_ && claim->phase == model::Claim::Phase::launched) begin_booting(id, *claim, now);
  }
  for (const model::NodeId id : delta.nodes) note_node(id, now.nodes.find(id), *now.catalog, now.at, names);
  end_failed_claims(now);
  for (const model::GangId id : delta.gangs) {
    note_gang(id, now.gangs.find(id), now.at);
    if (names != nullptr) note_name(id, *names);
  }
  for (const model::PodId id : delta.pods) note_pod(id, now.pods.find(id), now.at);
  if (is_of_cluster_) note_use(now);
}

/// Adds the node of a launched claim, which is paid for although it has not registered yet.
void HistoryRecorder::begin_booting(model::ClaimId id, const model::Claim& claim, const model::Snapshot& now) {
  if (booting_.contains(id) || history_.nodes.size() == RunHistory::kMaxRows) return;
  const model::Catalog& catalog = *now.catalog;
  const model::Offering& offering = catalog.offering(claim.offering);
  const ClaimTimes& times = known_row(claims_, id);
  booting_.emplace(id, history_.nodes.size());
  history_.nodes.push_back({.number = NodeHistory::kClaimNumbers + id.value,
                            .pool = claim.pool.valid() ? catalog.pool(claim.pool).name : "",
                            .instance_type = offering.instance_type,
                            .gpu = offering.gpu.valid() ? catalog.gpu_kind(offering.gpu) : "",
                            .zone = offering.zone.valid() ? catalog.domain(offering.zone).name : "",
                            .rack = {},
                            .nvlink = {},
                            .gpus = offering.gpus,
                            .capacity = offering.capacity,
                            .per_hour = known_price(offering),
                            .revision = history_.revision,
                            .requested_at = times.requested_at,
                            .launched_at = times.launched_at});
}

/// Ends the nodes of claims that failed or that were deleted before they registered.
void HistoryRecorder::end_failed_claims(const model::Snapshot& now) {
  std::erase_if(booting_, [&](const auto& booting) {
    const model::Claim* claim = now.claims.find(booting.first);
    if (claim != nullptr && claim->phase != model::Claim::Phase::failed) return false;
    history_.nodes[booting.second].ended_at = now.at;
    history_.nodes[booting.second].revision = history_.revision;
    return true;
  });
}

void HistoryRecorder::note_use(const model::Snapshot& now) {
  const auto user_of = [&](const model::Gang& gang) {
    const std::size_t user = user_of_(gang);
    return user == GangHistory::kNoUser ? std::nullopt : std::optional(user);
  };
  const auto price_of = [&](model::NodeId id) -> ReplicaUse::NodePrice {
    const auto known = nodes_.find(id);
    if (known == nodes_.end()) return {};
    const NodeHistory& node = history_.nodes[known->second];
    return {node.gpus, node.per_hour};
  };
  use_.note(now, user_of, price_of, history_.revision, history_.use);
  now.signals.for_each([&](model::GangId id, const model::ReplicaSignals& signals) {
    if (!signals.weights_us.usable() || signals.weights_us.value <= 0) return;
    GangHistory* gang = find_gang(id);
    if (gang == nullptr || gang->weights > Duration{}) return;
    gang->weights = std::chrono::microseconds(signals.weights_us.value);
    gang->revision = history_.revision;
  });
}

/// Fills the minutes up to now. A minute without an observation gets the signals of the next observation.
void HistoryRecorder::note_signals(const model::Snapshot& now) {
  const auto minutes = static_cast<std::size_t>(now.at.since_start / std::chrono::minutes(1)) + 1;
  if (history_.signals.size() >= minutes) return;
  SignalMinute seen;
  for (const auto& [service, health] : model::signal_health(now)) {
    seen.silent += health.silent;
    seen.oldest = std::max(seen.oldest, health.oldest);
  }
  history_.signals.resize(minutes, seen);
}

void HistoryRecorder::note_node(model::NodeId id, const model::Node* row, const model::Catalog& catalog, Instant now,
                                const model::Names* names) {
  const auto known = nodes_.find(id);
  if (known == nodes_.end()) {
    if (row != nullptr) begin_node(id, *row, catalog, now, names);
    return;
  }
  NodeHistory& node = history_.nodes[known->second];
  node.revision = history_.revision;
  if (row == nullptr) {
    node.ended_at = now;
    nodes_.erase(known);
    return;
  }
  if (!takes_pods(*row) && node.leaving_at.is_never()) node.leaving_at = now;
  if (takes_pods(*row)) node.leaving_at = Instant::never();
}

void HistoryRecorder::begin_node(model::NodeId id, const model::Node& row, const model::Catalog& catalog, Instant now,
                                 const model::Names* names) {
  const auto booting = booting_.find(row.claim);
  const std::size_t position = booting == booting_.end() ? history_.nodes.size() : booting->second;
  if (position == RunHistory::kMaxRows) {
    ++history_.left_out;
    return;
  }
  if (booting != booting_.end()) booting_.erase(booting);
  const auto claim = claims_.find(row.claim);
  const ClaimTimes times = claim == claims_.end() ? ClaimTimes{.requested_at = Instant::never()} : claim->second;
  const model::Offering* offering = row.offering.valid() ? &catalog.offering(row.offering) : nullptr;
  const std::string* name = names == nullptr ? nullptr : names->nodes.find(id);
  nodes_.emplace(id, position);
  if (position == history_.nodes.size()) history_.nodes.emplace_back();
  NodeHistory& node = history_.nodes[position];
  node = {.number = id.value,
          .pool = row.pool.valid() ? catalog.pool(row.pool).name : "",
          .instance_type = offering == nullptr ? "" : offering->instance_type,
          .gpu = row.gpu.valid() ? catalog.gpu_kind(row.gpu) : "",
          .zone = domain_of(catalog, row, model::TopologyLevel::zone),
          .rack = domain_of(catalog, row, model::TopologyLevel::rack),
          .nvlink = domain_of(catalog, row, model::TopologyLevel::nvlink),
          .gpus = row.gpus.count / 1000,
          .name = name == nullptr ? "" : *name,
          .revision = history_.revision,
          .requested_at = times.requested_at,
          .launched_at = times.launched_at,
          .ready_at = row.ready_at,
          .leaving_at = takes_pods(row) ? Instant::never() : now};
  if (offering == nullptr) return;
  node.capacity = offering->capacity;
  node.per_hour = known_price(*offering);
}

void HistoryRecorder::begin_gang(model::GangId id, const model::Gang& row, Instant at) {
  if (history_.gangs.size() == RunHistory::kMaxRows) {
    ++history_.left_out;
    return;
  }
  gangs_[id] = history_.gangs.size();
  history_.gangs.push_back({.user = user_of_(row),
                            .ordinal = row.ordinal,
                            .gpus = row.spec.gpus(),
                            .created_at = at,
                            .initialized_at = row.initialized_at,
                            .containers_started_at = row.containers_started_at,
                            .name = {},
                            .steps = {{at, row.phase}},
                            .held = {},
                            .waits = {},
                            .revision = history_.revision});
}

GangHistory* HistoryRecorder::find_gang(model::GangId id) {
  const auto known = gangs_.find(id);
  return known == gangs_.end() ? nullptr : &history_.gangs[known->second];
}

void HistoryRecorder::note_gang(model::GangId id, const model::Gang* row, Instant now) {
  const auto known = gangs_.find(id);
  if (row == nullptr) {
    if (known == gangs_.end()) return;
    GangHistory& gang = history_.gangs[known->second];
    gang.ended_at = now;
    gang.revision = history_.revision;
    for (GangHistory::PodGpus& held : gang.held) {
      if (held.until.is_never()) held.until = now;
    }
    gangs_.erase(known);
    return;
  }
  if (known == gangs_.end()) return begin_gang(id, *row, std::min(row->created_at, now));
  if (history_.gangs[known->second].user != user_of_(*row)) {
    GangHistory& before = history_.gangs[known->second];
    before.ended_at = now;
    before.revision = history_.revision;
    std::vector<GangHistory::PodGpus> moved;
    for (GangHistory::PodGpus& held : before.held) {
      if (!held.until.is_never()) continue;
      held.until = now;
      moved.push_back({.node = held.node, .gpus = held.gpus, .from = now});
    }
    gangs_.erase(known);
    begin_gang(id, *row, now);
    if (GangHistory* after = find_gang(id)) after->held = std::move(moved);
    return;
  }
  GangHistory& gang = history_.gangs[known->second];
  if (gang.initialized_at.is_never() && !row->initialized_at.is_never()) {
    gang.initialized_at = row->initialized_at;
    gang.revision = history_.revision;
  }
  if (gang.containers_started_at.is_never() && !row->containers_started_at.is_never()) {
    gang.containers_started_at = row->containers_started_at;
    gang.revision = history_.revision;
  }
  if (gang.steps.back().phase == row->phase || gang.steps.size() == RunHistory::kMaxSteps) return;
  gang.steps.push_back({now, row->phase});
  gang.revision = history_.revision;
}

/// Notes the name of a gang that belongs to no service. A gang of a service is named by its service and number.
void HistoryRecorder::note_name(model::GangId id, const model::Names& names) {
  GangHistory* gang = find_gang(id);
  const std::string* name = names.gangs.find(id);
  if (gang == nullptr || name == nullptr || gang->user != GangHistory::kNoUser || gang->name == *name) return;
  gang->name = *name;
  gang->revision = history_.revision;
}

void HistoryRecorder::note_pod(model::PodId id, const model::Pod* row, Instant now) {
  if (GangHistory* gang = row == nullptr ? nullptr : find_gang(row->gang); gang != nullptr && row->queue.valid()) {
    gang->queue = row->queue;
    gang->revision = history_.revision;
  }
  const auto known = pods_.find(id);
  if (row != nullptr && row->node.valid() && known == pods_.end()) {
    pods_.emplace(id, std::pair{row->gang, row->node});
    if (GangHistory* gang = find_gang(row->gang)) {
      gang->held.push_back({.node = row->node.value, .gpus = row->gpus, .from = now});
      gang->revision = history_.revision;
    }
  } else if (row == nullptr && known != pods_.end()) {
    const auto [id_of_gang, node] = known->second;
    pods_.erase(known);
    GangHistory* gang = find_gang(id_of_gang);
    if (gang == nullptr) return;
    const auto open = std::ranges::find_if(
        gang->held, [&](const GangHistory::PodGpus& held) { return held.node == node.value && held.until.is_never(); });
    if (open == gang->held.end()) return;
    open->until = now;
    gang->revision = history_.revision;
  }
}

void HistoryRecorder::add(LowerDecision decided) {
  if (history_.decisions.size() == RunHistory::kMaxDecisions) {
    ++history_.decisions_left_out;
    return;
  }
  const GangHistory* gang = find_gang(decided.gang);
  history_.decisions.push_back({std::move(decided), gang == nullptr ? std::nullopt : std::optional(gang->user)});
}

std::vector<HistoryRecorder::NewWait> HistoryRecorder::note_waits(const decide::place::Decision& placed,
                                                                  const decide::provision::Decision& provisioned,
                                                                  const model::Catalog& catalog, Instant now) {
  std::vector<NewWait> all;
  for (const decide::place::PlacementResult& verdict : placed.verdicts) {
    GangHistory* gang = waits(verdict.kind) ? find_gang(verdict.gang) : nullptr;
    if (gang == nullptr || gang->steps.back().phase != model::Gang::Phase::pending) continue;
    const std::string_view reason = model::name(verdict.why.code);
    std::string supply = supply_words(provisioned, catalog, verdict.gang);
    if (!gang->waits.empty()) {
      const GangHistory::Wait& last = gang->waits.back();
      // A different supply sentence alone is not a new wait: its numbers, such as the time since the last launch,
      // change with every decision.
      const bool same = last.kind == verdict.kind && last.reason == reason && last.supply.empty() == supply.empty();
      if (same || gang->waits.size() == RunHistory::kMaxSteps) continue;
    }
    std::string sentence = model::sentence(verdict.why, catalog);
    all.push_back({verdict.gang, sentence, supply});
    gang->waits.push_back({now, verdict.kind, std::string(reason), std::move(sentence), std::move(supply)});
    gang->revision = history_.revision;
  }
  return all;
}

void HistoryRecorder::note(const control::Controller& controller, const model::Catalog& catalog, Instant now) {
  for (const NewWait& wait : note_waits(controller.place_decision(), controller.provision_decision(), catalog, now)) {
    add(waiting_decision(controller, catalog, now, wait.gang, wait.sentence, wait.supply));
  }
  for (LowerDecision& decided : lower_decisions(controller, catalog, next_action_)) add(std::move(decided));
  next_action_ = controller.log().count();
}

void HistoryRecorder::drop_ended(const model::Snapshot& now) {
  const auto move_present = [](auto& kept, auto& rows, auto& present) {
    for (auto& [id, row] : present) {
      kept.push_back(std::move(rows[row]));
      row = kept.size() - 1;
    }
  };
  std::vector<NodeHistory> nodes;
  move_present(nodes, history_.nodes, nodes_);
  move_present(nodes, history_.nodes, booting_);
  history_.nodes = std::move(nodes);
  std::vector<GangHistory> gangs;
  move_present(gangs, history_.gangs, gangs_);
  history_.gangs = std::move(gangs);
  if (history_.use.size() > RunHistory::kMaxUse / 2) {
    history_.use.erase(history_.use.begin(), history_.use.end() - static_cast<std::ptrdiff_t>(RunHistory::kMaxUse / 2));
    use_.forget_positions();
  }
  std::erase_if(claims_, [&](const auto& claim) { return now.claims.find(claim.first) == nullptr; });
}

RunHistory HistoryRecorder::take(const std::vector<sim::ColdStart>& starts) && {
  const std::size_t kept = std::min(starts.size(), RunHistory::kMaxRows);
  history_.starts.assign(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(kept));
  history_.left_out += static_cast<std::int64_t>(starts.size() - kept);
  return std::move(history_);
}

}  // namespace capstan::experiment
