#include "decide/place/context.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace capstan::decide::place {
namespace {

using model::Gang;
using model::Plan;
using model::ReasonCode;
using Kind = PlacementResult::Kind;

bool is_placed_elsewhere(const model::Catalog& catalog, const Gang& gang) {
  return gang.service.valid() && catalog.service(gang.service).workload.placed_elsewhere;
}

/// Decides about a gang that waits for something other than room: its old pods still terminate, its bindings are not
/// confirmed yet, some of the pods that it needs do not exist, a rule keeps its pods from being placed, or
/// its other pods run on nodes that are not in the snapshot.
void decide_if_not_waiting_for_room(PendingGang& gang, Context& context) {
  const GangPods& pods = gang.pods;
  if (pods.leaving > 0) return gang.decide(Kind::cannot_fit_now, {ReasonCode::pods_leaving, {pods.leaving}});
  const bool is_assumed =
      pods.without_node.empty() ? context.broken(gang.id()) == nullptr : context.rooms.has(pods.without_node.front());
  if (is_assumed) return context.wait_for_confirmation(gang);
  const std::int64_t needed = context.snapshot.gangs.at(gang.id()).spec.needed();
  const std::int64_t existing = std::ssize(pods.without_node);
  if (pods.have_node == 0 && existing < needed) {
    return gang.decide(Kind::cannot_fit_now, {ReasonCode::pods_missing, {existing, needed}});
  }
  const model::PodRule rule = context.snapshot.catalog->eligibility.unsupported_rule(pods.request.spec);
  // An unsupported rule keeps a gang waiting only if it is not broken. A broken gang is left to evict_broken(), which
  // evicts its bound pods if the others do not get nodes in time.
  const bool is_whole = context.broken(gang.id()) == nullptr;
  if (!pods.without_node.empty() && is_whole && rule != model::PodRule::none) {
    return gang.decide(Kind::cannot_fit_now, reason_of(rule));
  }
  const std::int64_t unseen = pods.have_node - std::ssize(pods.bound);
  // The remaining pods must join the domain of the bound pods. It is unknown while nodes of bound pods are not in the
  // snapshot.
  if (!pods.without_node.empty() && unseen > 0)
    gang.decide(Kind::cannot_fit_now, {ReasonCode::nodes_not_seen, {unseen}});
}

}  // namespace

Context::Context(Index& rooms_index, const model::Snapshot& from, std::span<const model::PlannedGang> planned_gangs,
                 const Policy& with, Memory& known, Instant at, const LeavingNodes& given_back)
    : index(rooms_index),
      snapshot(from),
      planned(planned_gangs),
      policy(with),
      memory(known),
      now(at),
      leaving(given_back),
      rooms(rooms_index.assumed),
      queues(from, rooms_index),
      spread(from, rooms_index, known),
      search(from, rooms, spread) {
  for (const auto& [node, pods] : rooms.pods_by_node()) decision.nominated.insert(decision.nominated.end(), node);
  gangs.reserve(index.pending_gangs.size());
  for (const auto& [priority, created, id] : index.pending_gangs) {
    if (policy.kind == Policy::Kind::first_fit) {
      gangs.emplace_back().pods.request.gang = id;
      continue;
    }
    const Gang& gang = snapshot.gangs.at(id);
    if (is_placed_elsewhere(*snapshot.catalog, gang)) continue;
    decide_if_not_waiting_for_room(gangs.emplace_back(PendingGang{.pods = gang_pods_of(snapshot, id, gang)}), *this);
  }
}

void Context::take(NodeId node, MilliGpu gpus, model::PodClassId pods) {
  rooms.take(node, gpus, snapshot.catalog->eligibility.requests(pods));
  decision.nominated.insert(node);
}

void Context::wait_for_confirmation(PendingGang& gang) const {
  const auto pods = std::ssize(snapshot.gangs.at(gang.id()).pods);
  gang.decide(Kind::assumed, {ReasonCode::binding_assumed, {pods}});
}

model::Reason reason_of(model::PodRule rule) {
  if (rule == model::PodRule::scheduling_gates) return {ReasonCode::pods_gated, {}};
  if (rule == model::PodRule::no_gpus) return {ReasonCode::no_gpus_requested, {}};
  return {ReasonCode::rule_not_supported, {static_cast<std::int64_t>(rule)}};
}

Shortfall shortfall_of(const GangPods& gang, const BestPlace& best) {
  Shortfall lack = gang.request;
  lack.best_domain = best.best_domain;
  lack.best_node = best.best_node;
  lack.best_free = best.best_free;
  for (std::size_t i = 0; i < lack.spec.sets(); ++i) {
    lack.short_pods[i] = lack.spec.set(i).count - best.pods_of(i);
    lack.short_by += lack.spec.set(i).gpus_per_pod * lack.short_pods[i];
  }
  lack.bound_to_best = !gang.bound.empty();
  return lack;
}

Memory::BrokenGang* Context::broken(GangId id) {
  const auto found = std::ranges::find(memory.broken, id, &Memory::BrokenGang::gang);
  return found == memory.broken.end() ? nullptr : &*found;
}

namespace {

/// Returns true if the gang waits for anything: it is neither placed nor assumed, and some domain can be large enough.
bool waits(const PendingGang& gang) {
  return !gang.result || (gang.result->kind != Kind::placed && gang.result->kind != Kind::assumed &&
                          gang.result->kind != Kind::never_fits);
}

/// Returns for each gang how many gangs with a higher priority wait for room, nodes or their queue.
std::vector<std::int64_t> waiting_before(const Context& context) {
  std::vector<std::int64_t> before;
  before.reserve(context.gangs.size());
  std::int64_t waiting = 0, with_same = 0;  // gangs with a higher priority than the current one, and with its priority
  std::optional<std::int32_t> current;
  for (const PendingGang& gang : context.gangs) {
    const std::int32_t priority = context.snapshot.gangs.at(gang.id()).spec.priority;
    if (priority != current) waiting += std::exchange(with_same, 0);
    current = priority;
    before.push_back(waiting);
    with_same += waits(gang) ? 1 : 0;
  }
  return before;
}

}  // namespace

Decision finished(Context& context) {
  Decision& decision = context.decision;
  const std::vector<std::int64_t> before = waiting_before(context);
  for (std::size_t i = 0; i < context.gangs.size(); ++i) {
    PendingGang& gang = context.gangs[i];
    std::ranges::move(gang.actions, std::back_inserter(decision.plan.actions));
    if (!gang.result) gang.decide(Kind::cannot_fit_now, {ReasonCode::passes_off, {}});
    if (waits(gang)) gang.result->waiting_before = before[i];
    decision.verdicts.push_back(*gang.result);
    if (gang.result->kind == Kind::placed) continue;
    decision.plan.no_actions.push_back({Plan::NoAction::Subject::gang, gang.id().value, gang.result->why});
  }
  context.search.forget_unused();
  return std::move(decision);
}

}  // namespace capstan::decide::place
