#include "archive/redecide.h"

namespace capstan::archive {

Redecided redecide(const SavedState& state) {
  const model::Snapshot& snapshot = state.snapshot;
  decide::Index index = decide::build(snapshot);
  control::Memory memory = state.memory;
  Redecided out;
  for (std::uint32_t i = 0; i < memory.scale.size(); ++i) {
    if (snapshot.services.find(model::ServiceId{i}) == nullptr) {
      decide::scale::Decision& nothing = out.scale.emplace_back();
      nothing.service = {i};
      nothing.why = {model::ReasonCode::nothing_to_do, {}};
      continue;
    }
    const decide::scale::RoleView role = decide::scale::view(snapshot, index, model::ServiceId{i});
    out.scale.push_back(decide::scale::decide(role, state.policies.scale[i], memory.scale[i], snapshot.at));
  }
  const control::Policies& policies = state.policies;
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
