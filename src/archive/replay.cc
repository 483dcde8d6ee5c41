#include "archive/replay.h"

#include <algorithm>
#include <utility>

#include "manifest/fields.h"
#include "model/plan.h"
#include "settings/policy.h"

namespace capstan::archive {
namespace {

/// Returns a hash of the actions without their reasons, which name the policy's own quantities.
std::uint64_t actions_hash(model::Plan plan) {
  plan.no_actions.clear();
  for (model::Action& action : plan.actions) action.why = {};
  return model::plan_hash(plan);
}

bool have_same_plans(const RepeatedDecisions& a, const RepeatedDecisions& b) {
  const auto are_same = [](const auto& one, const auto& other) { return have_same_actions(one.plan, other.plan); };
  return std::ranges::equal(a.scale, b.scale, are_same) && are_same(a.place, b.place) &&
         are_same(a.provision, b.provision);
}

/// Returns the state with the other policies. The layers with another policy get their part of `memory`, or an empty
/// memory if there is none.
SavedState with_policies(const SavedState& state, const OtherPolicies& other,
                         const std::optional<control::Memory>& memory) {
  SavedState changed = state;
  if (other.scale) {
    std::ranges::fill(changed.policies.scale, *other.scale);
    changed.memory.scale.clear();
    if (memory) changed.memory.scale = memory->scale;
    changed.memory.scale.resize(state.memory.scale.size());
  }
  if (other.place) {
    changed.policies.place = other.place;
    changed.memory.place = memory ? memory->place : decide::place::Memory{};
  }
  if (other.provision) {
    changed.policies.provision = other.provision;
    changed.memory.provision = memory ? memory->provision : decide::provision::Memory{};
  }
  return changed;
}

}  // namespace

bool have_same_actions(const model::Plan& a, const model::Plan& b) { return actions_hash(a) == actions_hash(b); }

Result<ReplayCount> replay(Recording& recording, const OtherPolicies& other,
                           const std::function<bool(const ReplayedState&)>& visit) {
  ReplayCount count;
  std::optional<control::Memory> memory;
  while (true) {
    const Result<std::optional<SavedState>> state = recording.next();
    if (!state) return std::unexpected(state.error());
    count.damaged = recording.damaged();
    if (!*state) return count;
    fleet::Index index = fleet::build((*state)->snapshot);
    const RepeatedDecisions recorded = redecide(**state, index);
    std::optional<RepeatedDecisions> changed;
    if (other.any()) {
      changed = redecide(with_policies(**state, other, memory), index);
      memory = changed->memory;
    }
    const RepeatedDecisions& second = changed ? *changed : recorded;
    const bool differs = changed && !have_same_plans(recorded, second);
    ++count.states;
    if (differs) ++count.differing;
    if (!visit({**state, recorded, second, differs})) return count;
  }
}

std::expected<OtherPolicies, manifest::Errors> read_policies(const std::string& path) {
  OtherPolicies out;
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

}  // namespace capstan::archive
