#include "archive/redecide.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "decide/scale/roles.h"

namespace capstan::archive {
namespace {

/// Removes the effects of services and layers that were not due: their actions and the changes of their memories.
/// @param deciders  by service: the service whose decision sets its replicas
void drop_decisions_not_due(const SavedState& state, const std::vector<model::ServiceId>& deciders,
                            RepeatedDecisions& decided) {
  for (std::size_t i = 0; i < decided.scale.size(); ++i) {
    const model::ServiceId service{static_cast<std::uint32_t>(i)};
    const model::ServiceState* row = state.snapshot.services.find(service);
    if (row == nullptr || state.due.has(i < deciders.size() ? deciders[i] : service)) continue;
    decided.scale[i].plan.actions.clear();
    decided.scale[i].desired = row->desired_replicas;
    if (i < state.memory.scale.size()) decided.memory.scale[i] = state.memory.scale[i];
  }
  if (state.due.placement) return;
  decided.place.plan.actions.clear();
  decided.provision.plan.actions.clear();
  decided.memory.place = state.memory.place;
  decided.memory.provision = state.memory.provision;
}

}  // namespace

RepeatedDecisions redecide(const SavedState& state) {
  fleet::Index index = fleet::build(state.snapshot);
  return redecide(state, index);
}

RepeatedDecisions redecide(const SavedState& state, fleet::Index& index) {
  const model::Snapshot& snapshot = state.snapshot;
  control::Memory memory = state.memory;
  RepeatedDecisions out;
  const control::Policies& policies = state.policies;
  const std::vector<model::ServiceId> deciders = decide::scale::deciders(
      snapshot, [&](model::ServiceId id) -> const decide::scale::Policy& { return policies.scale[id.value]; });
  std::map<model::ServiceId, decide::scale::RolePart> paired;
  const std::size_t memory_rows = memory.scale.size();
  memory.scale.resize(std::max(memory_rows, snapshot.catalog->services.size()));
  for (std::uint32_t i = 0; i < memory_rows; ++i) {
    if (snapshot.services.find(model::ServiceId{i}) == nullptr) {
      decide::scale::Decision& unchanged = out.scale.emplace_back();
      unchanged.service = {i};
      unchanged.why = {model::ReasonCode::nothing_to_do, {}};
      continue;
    }
    out.scale.emplace_back();
    if (deciders[i] != model::ServiceId{i}) continue;  // another service's decision covers it
    const decide::scale::MixSource mixes{
        .deciders = deciders,
        .memories = memory.scale,
        .provision_memory = policies.provision ? &memory.provision : nullptr,
    };
    decide::scale::WorkloadView role =
        decide::scale::view_of_mix(snapshot, index, model::ServiceId{i}, mixes, snapshot.at);
    control::start_from_requested(memory.requested, role);
    out.scale[i] = decide::scale::decide(role, policies.scale[i], memory.scale[i], snapshot.at);
    // A role that was not due has no effect on the other role.
    if (state.due.has({i}) && decide::scale::is_paired(*snapshot.catalog, {i}, policies.scale[i])) {
      paired.emplace(model::ServiceId{i}, decide::scale::RolePart{std::move(role), std::move(out.scale[i])});
    }
  }
  decide::scale::reconcile_roles(*snapshot.catalog, paired);
  for (auto& [service, part] : paired) out.scale[service.value] = std::move(part.decision);
  for (std::uint32_t i = 0; i < out.scale.size(); ++i) {
    std::vector<decide::scale::Decision> alternatives = std::exchange(out.scale[i].alternatives, {});
    for (decide::scale::Decision& other : alternatives) {
      if (other.service.value < out.scale.size()) out.scale[other.service.value] = std::move(other);
    }
  }
  if (policies.place) {
    out.place = decide::place::decide(
        index, snapshot, memory.planned, *policies.place, memory.place, snapshot.at,
        {.leaving = decide::provision::leaving(memory.provision), .options = {.detail = decide::Detail::candidates}});
  }
  if (policies.place && policies.provision) {
    out.provision = decide::provision::decide(index, snapshot, out.place, *policies.provision, memory.provision,
                                              snapshot.at, {.detail = decide::Detail::candidates});
  }
  out.memory = std::move(memory);
  drop_decisions_not_due(state, deciders, out);
  return out;
}

}  // namespace capstan::archive
