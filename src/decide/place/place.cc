#include "decide/place/place.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/known_row.h"
#include "decide/place/checks.h"
#include "decide/place/context.h"
#include "decide/place/gang_pods.h"
#include "decide/place/passes.h"

namespace capstan::decide::place {
namespace {

/// Returns the assumed bindings with the room that each of them takes.
std::vector<AssumedPod> assumed_pods(const model::Snapshot& snapshot, const Memory& memory) {
  std::vector<AssumedPod> pods;
  pods.reserve(memory.assumed.size());
  for (const Memory::AssumedBinding& assumed : memory.assumed) {
    const model::Gang* gang = snapshot.gangs.find(assumed.gang);
    const model::Pod& pod = snapshot.pods.at(assumed.pod);
    const bool is_repeated = !pods.empty() && pods.back().pod == assumed.pod;
    pods.push_back({.pod = assumed.pod,
                    .node = assumed.node,
                    .gpus = assumed.gpus,
                    .pod_class = gang == nullptr ? model::PodClassId{} : gang->spec.set(pod.set).pod_class,
                    .queue = is_repeated ? QueueId{} : pod.queue,
                    .queue_gpus = pod.gpus});
  }
  return pods;
}

/// Drops assumed bindings that the snapshot confirms, whose pod is gone, or that were not confirmed in time.
void forget_settled(Memory& memory, const model::Snapshot& snapshot, Instant now) {
  std::erase_if(memory.assumed, [&](const Memory::AssumedBinding& assumed) {
    const model::Pod* pod = snapshot.pods.find(assumed.pod);
    return now >= assumed.until || pod == nullptr || pod->phase != model::Pod::Phase::pending || pod->node.valid();
  });
}

/// Updates which pending gangs are broken, and since when.
void update_broken_gangs(Memory& memory, const Index& index, const model::Snapshot& snapshot, Instant now) {
  std::vector<Memory::BrokenGang> rows;
  for (const auto& [priority, created, id] : index.pending_gangs) {
    if (!is_broken(snapshot, snapshot.gangs.at(id))) continue;
    const auto known = std::ranges::find(memory.broken, id, &Memory::BrokenGang::gang);
    rows.push_back({id, known == memory.broken.end() ? now : known->since});
  }
  std::ranges::sort(rows, {}, &Memory::BrokenGang::gang);
  memory.broken = std::move(rows);
}

void assume(Memory& memory, const model::Snapshot& snapshot, const model::Plan& plan, Instant until) {
  const std::size_t known = memory.assumed.size();
  for (const model::Action& action : plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    if (bind == nullptr) continue;
    for (const model::BindPods::Binding& binding : bind->bindings) {
      memory.assumed.push_back({binding.pod, binding.node, bind->gang, snapshot.pods.at(binding.pod).gpus, until});
    }
  }
  const auto added = memory.assumed.begin() + static_cast<std::ptrdiff_t>(known);
  std::ranges::sort(added, memory.assumed.end(), {}, &Memory::AssumedBinding::pod);
  std::ranges::inplace_merge(memory.assumed, added, {}, &Memory::AssumedBinding::pod);
}

}  // namespace

std::string_view name(Policy::Kind kind) { return kind == Policy::Kind::first_fit ? "first_fit" : "gang"; }

std::string_view name(PlacementResult::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"placed",        "assumed",    "cannot_fit_now",
                                                             "held_by_queue", "never_fits", "nominated"};
  return known_row(kNames, static_cast<std::size_t>(kind));
}

void forget(Memory& memory, GangId gang) {
  std::erase_if(memory.assumed, [&](const Memory::AssumedBinding& assumed) { return assumed.gang == gang; });
}

void keep_assumed(Memory& memory, std::span<const GangId> gangs, Instant until) {
  for (Memory::AssumedBinding& assumed : memory.assumed) {
    if (std::ranges::binary_search(gangs, assumed.gang)) assumed.until = std::max(assumed.until, until);
  }
}

Decision decide(Index& index, const model::Snapshot& snapshot, std::span<const model::PlannedGang> planned,
                const Policy& policy, Memory& memory, Instant now, const PlaceOptions& with) {
  forget_settled(memory, snapshot, now);
  if (policy.kind == Policy::Kind::gang) update_broken_gangs(memory, index, snapshot, now);
  if (index.pending_gangs.empty() && index.unbound_pods.empty() && planned.empty()) return {};
  index.assumed.update(index.rooms, snapshot.catalog->eligibility, assumed_pods(snapshot, memory), with.leaving.nodes);
  Context context(index, snapshot, planned, policy, memory, now, with.leaving);
  if (with.options.detail == Detail::candidates) context.search.keep_candidates(context.decision.searches);
  run_passes(passes(), context, with.options.verify, broken_invariant);
  Decision decision = finished(context);
  assume(memory, snapshot, decision.plan, now + policy.assume_for);
  return decision;
}

}  // namespace capstan::decide::place
