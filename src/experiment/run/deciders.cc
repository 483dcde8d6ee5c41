#include "experiment/run/deciders.h"

#include <utility>

#include "base/error.h"
#include "model/plan.h"

namespace capstan::experiment {
namespace {

/// Decides again from `before`, which is first saved to text and parsed. Returns true if the plan and the memory
/// afterwards are the same as the first time.
template <typename Memory, typename Decide, typename Parse>
bool repeats(const Memory& before, const Memory& after, const model::Plan& plan, Decide&& decide, Parse&& parse) {
  Result<Memory> restored = parse(to_text(before));
  if (!restored) return false;
  const model::Plan repeated = decide(*restored).plan;
  return plan_hash(repeated) == plan_hash(plan) && *restored == after;
}

}  // namespace

template <typename Memory, typename Decide, typename Parse>
auto ReplayCheck::decide_twice(Memory& memory, Decide&& decide, Parse&& parse) {
  const Memory before = memory;
  auto decision = decide(memory);
  differences_ += repeats(before, memory, decision.plan, decide, parse) ? 0 : 1;
  return decision;
}

decide::scale::Decision ReplayCheck::scale(const control::ScaleInputs& inputs, decide::scale::Memory& memory) {
  const auto decide = [&](decide::scale::Memory& before) { return inner().scale(inputs, before); };
  return decide_twice(memory, decide, decide::scale::parse_memory);
}

decide::place::Decision ReplayCheck::place(const control::PlaceInputs& inputs, decide::place::Memory& memory) {
  const auto decide = [&](decide::place::Memory& before) { return inner().place(inputs, before); };
  return decide_twice(memory, decide, decide::place::parse_memory);
}

decide::provision::Decision ReplayCheck::provision(const control::ProvisionInputs& inputs,
                                                   decide::provision::Memory& memory) {
  const auto decide = [&](decide::provision::Memory& before) { return inner().provision(inputs, before); };
  return decide_twice(memory, decide, decide::provision::parse_memory);
}

decide::scale::Decision OutsideAutoscaler::scale(const control::ScaleInputs& inputs, decide::scale::Memory& memory) {
  const std::optional<ReplicaCount> wanted = autoscaler_(inputs.snapshot, inputs.role);
  if (!wanted) return inner().scale(inputs, memory);
  const decide::scale::Policy policy = decide::scale::Fixed{*wanted, decide::scale::period(inputs.policy)};
  decide::scale::Decision decision = inner().scale({inputs.snapshot, inputs.role, policy, inputs.now}, memory);
  // With any other reason, a bound of the service changed the autoscaler's number, and the reason names the bound.
  if (decision.why.code != model::ReasonCode::fixed_replicas) return decision;
  decision.why.code = model::ReasonCode::set_by_autoscaler;
  decision.is_stated = false;
  for (model::Action& action : decision.plan.actions) {
    action.why = decision.why;
    if (auto* set = std::get_if<model::SetReplicas>(&action.effect)) set->is_stated = false;
  }
  for (model::Plan::NoAction& kept : decision.plan.no_actions) kept.why = decision.why;
  return decision;
}

}  // namespace capstan::experiment
