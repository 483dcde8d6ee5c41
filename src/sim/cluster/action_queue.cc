#include "sim/cluster/action_queue.h"

#include <algorithm>
#include <utility>

namespace capstan::sim {

model::ActionToken ActionQueue::submit(const model::Action& action, std::vector<model::GangId> basis) {
  const model::ActionToken token{next_action_++};
  WaitingAction waiting{.action = action};
  const bool refused = draws_.chance_ppm(config_.refused_ppm);
  waiting.is_known = !draws_.chance_ppm(config_.unknown_ppm);
  waiting.happens = !refused && (waiting.is_known || draws_.chance_ppm(500'000));
  waiting.basis = std::move(basis);
  waiting_.emplace(token, std::move(waiting));
  const bool binds = std::holds_alternative<model::BindPods>(action.what);
  const Duration latency = binds ? config_.bind_latency : config_.action_latency;
  events_.schedule(now() + latency, EventKind::action_effect, token.value);
  return token;
}

std::set<model::NodeId> ActionQueue::ending_nodes() const {
  std::set<model::NodeId> nodes;
  for (const auto& [token, waiting] : waiting_) {
    if (const auto* end = std::get_if<model::TerminateNode>(&waiting.action.what)) nodes.insert(end->node);
  }
  return nodes;
}

void ActionQueue::take_effect(model::ActionToken token) {
  const auto node = waiting_.extract(token);
  const WaitingAction& waiting = node.mapped();
  std::optional<model::Reason> refusal;
  const auto lost =
      std::ranges::count_if(waiting.basis, [&](model::GangId id) { return rows().gangs.find(id) == nullptr; });
  if (waiting.happens && lost > 0) {
    refusal = model::Reason{model::ReasonCode::replicas_lost, {lost}};
  } else if (waiting.happens) {
    refusal = executor_.perform(waiting.action);
    ActionCounts& counts = meter_.actions[waiting.action.what.index()];
    ++counts.asked;
    if (refusal) ++counts.refused;
  } else {
    refusal = model::Reason{model::ReasonCode::outcome_refused};
  }
  if (!waiting.is_known) {
    ++meter_.actions_unknown;
    events_.schedule(now() + config_.unknown_after, EventKind::unknown_reported, token.value);
  } else if (refusal) {
    ++meter_.actions_refused;
    outcomes_.push_back({token, ports::Outcome::Kind::refused, *refusal});
  } else {
    outcomes_.push_back({token, ports::Outcome::Kind::applied, {}});
  }
}

void ActionQueue::report_unknown(model::ActionToken token) {
  outcomes_.push_back({token,
                       ports::Outcome::Kind::unknown,
                       {model::ReasonCode::outcome_unknown, {config_.unknown_after / std::chrono::seconds(1)}}});
}

}  // namespace capstan::sim
