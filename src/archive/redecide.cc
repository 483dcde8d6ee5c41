#include "archive/redecide.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace capstan::archive {

Redecided redecide(const SavedState& state) {
  const model::Snapshot& snapshot = state.snapshot;
  decide::Index index = decide::build(snapshot);
  control::Memory memory = state.memory;
  Redecided out;
  const control::Policies& policies = state.policies;
  const std::vector<model::ServiceId> deciders = decide::scale::deciders(
      snapshot, [&](model::ServiceId id) -> const decide::scale::Policy& { return policies.scale[id.value]; });
  const std::size_t remembered = memory.scale.size();
  memory.scale.resize(std::max(remembered, snapshot.catalog->services.size()));
  for (std::uint32_t i = 0; i < remembered; ++i) {
    if (snapshot.services.find(model::ServiceId{i}) == nullptr) {
      decide::scale::Decision& nothing = out.scale.emplace_back();
      nothing.service = {i};
      nothing.why = {model::ReasonCode::nothing_to_do, {}};
      continue;
    }
    out.scale.emplace_back();
    if (deciders[i] != model::ServiceId{i}) continue;  // its decider speaks for it
    const decide::scale::MixSource mixes{
        .deciders = deciders,
        .memories = memory.scale,
        .bought = policies.provision ? &memory.provision : nullptr,
    };
    const decide::scale::RoleView role =
        decide::scale::view_of_mix(snapshot, index, model::ServiceId{i}, mixes, snapshot.at);
    out.scale[i] = decide::scale::decide(role, policies.scale[i], memory.scale[i], snapshot.at);
  }
  for (std::uint32_t i = 0; i < out.scale.size(); ++i) {
    std::vector<decide::scale::Decision> beside = std::exchange(out.scale[i].beside, {});
    for (decide::scale::Decision& other : beside) {
      if (other.service.value < out.scale.size()) out.scale[other.service.value] = std::move(other);
    }
  }
  if (policies.place) {
    out.place = decide::place::decide(index, snapshot, memory.planned, *policies.place, memory.place, snapshot.at);
  }
  if (policies.place && policies.provision) {
    out.provision =
        decide::provision::decide(index, snapshot, out.place, *policies.provision, memory.provision, snapshot.at);
  }
  return out;
}

}  // namespace capstan::archive
