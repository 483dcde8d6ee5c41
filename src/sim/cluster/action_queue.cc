#include "sim/cluster/action_queue.h"

#include <algorithm>
#include <utility>

#include "sim/cluster/gpu_user.h"

namespace capstan::sim {

model::ActionToken ActionQueue::submit(const model::Action& action, std::vector<model::GangId> basis) {
  const model::ActionToken token{next_action_++};
  WaitingAction waiting{.action = action};
  const bool refused = draws_.chance_ppm(config_.refused_ppm);
  waiting.is_known = !draws_.chance_ppm(config_.unknown_ppm);
  waiting.takes_effect = !refused && (waiting.is_known || draws_.chance_ppm(500'000));
  waiting.basis = std::move(basis);
  waiting_.emplace(token, std::move(waiting));
  const bool binds = std::holds_alternative<model::BindPods>(action.effect);
  const Duration latency = binds ? config_.bind_latency : config_.action_latency;
  events_.schedule(now() + latency, EventKind::action_effect, token.value);
  return token;
}

std::set<model::NodeId> ActionQueue::ending_nodes() const {
  std::set<model::NodeId> nodes;
  for (const auto& [token, waiting] : waiting_) {
    if (const auto* end = std::get_if<model::TerminateNode>(&waiting.action.effect)) nodes.insert(end->node);
  }
  return nodes;
}

std::optional<std::size_t> ActionQueue::user_of(const model::Action& action) const {
  const auto of_gang = [&](model::GangId id) -> std::optional<std::size_t> {
    const model::Gang* gang = rows().gangs.find(id);
    return gang == nullptr ? std::nullopt : std::optional(gpu_user(config_, *gang));
  };
  const auto of_service = [&](model::ServiceId id) {
    return id.value < config_.catalog->services.size() ? std::optional<std::size_t>(id.value) : std::nullopt;
  };
  if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) return of_service(set->service);
  if (const auto* convert = std::get_if<model::ConvertReplica>(&action.effect)) return of_service(convert->from);
  if (const auto* bind = std::get_if<model::BindPods>(&action.effect)) return of_gang(bind->gang);
  const auto* evict = std::get_if<model::EvictPod>(&action.effect);
  const model::Pod* pod = evict == nullptr ? nullptr : rows().pods.find(evict->pod);
  return pod == nullptr ? std::nullopt : of_gang(pod->gang);
}

void ActionQueue::take_effect(model::ActionToken token) {
  const auto node = waiting_.extract(token);
  const WaitingAction& waiting = node.mapped();
  std::optional<model::Reason> refusal;
  const std::optional<std::size_t> user = user_of(waiting.action);  // the action may remove the object
  const auto lost =
      std::ranges::count_if(waiting.basis, [&](model::GangId id) { return rows().gangs.find(id) == nullptr; });
  if (waiting.takes_effect && lost > 0) {
    refusal = model::Reason{model::ReasonCode::replicas_lost, {lost}};
  } else if (waiting.takes_effect) {
    refusal = executor_.perform(waiting.action);
    ActionCounts& counts = meter_.actions[waiting.action.effect.index()];
    ++counts.asked;
    if (refusal) ++counts.refused;
    if (refusal && user) {
      std::vector<std::int64_t>& refused = meter_.refused_by_user[waiting.action.effect.index()];
      refused.resize(std::max(refused.size(), *user + 1));
      ++refused[*user];
    }
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
