#include "control/in_flight.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace capstan::control {

namespace {

Duration timeout_of(const model::Action& action) {
  const auto* set = std::get_if<model::SetReplicas>(&action.effect);
  return set != nullptr && !set->drain.empty() ? InFlight::kDrainTimeout : InFlight::kOutcomeTimeout;
}

/// Returns the ids of the objects that the actions of one kind change, in ascending order.
template <typename Entries, typename Action, typename Id>
std::vector<Id> subjects(const Entries& entries, Id Action::* id) {
  std::vector<Id> ids;
  for (const auto& entry : entries) {
    if (const auto* action = std::get_if<Action>(&entry.action.effect)) ids.push_back(action->*id);
  }
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

void InFlight::add(model::ActionToken token, model::Action action, Instant now, Instant decided_at) {
  CAPSTAN_ASSERT(!full());
  CAPSTAN_ASSERT(entries_.empty() || entries_.back().submitted_at <= now);
  entries_.push_back({token, std::move(action), now, decided_at});
}

std::optional<ReplicaCount> InFlight::requested_replicas(model::ServiceId service) const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    const auto* set = std::get_if<model::SetReplicas>(&entry->action.effect);
    if (set != nullptr && set->service == service) return set->replicas;
  }
  return std::nullopt;
}

std::map<model::ServiceId, ReplicaCount> InFlight::requested() const {
  std::map<model::ServiceId, ReplicaCount> replicas;
  for (const Entry& entry : entries_) {
    if (const auto* set = std::get_if<model::SetReplicas>(&entry.action.effect)) replicas[set->service] = set->replicas;
  }
  return replicas;
}

std::vector<model::GangId> InFlight::binding() const { return subjects(entries_, &model::BindPods::gang); }

std::vector<model::NodeId> InFlight::terminating() const { return subjects(entries_, &model::TerminateNode::node); }

bool InFlight::is_converting(model::ServiceId service) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    const auto* convert = std::get_if<model::ConvertReplica>(&entry.action.effect);
    return convert != nullptr && (convert->from == service || convert->to == service);
  });
}

std::vector<InFlight::SettledAction> InFlight::settle(const std::vector<ports::Outcome>& outcomes, Instant now) {
  std::vector<SettledAction> settled;
  if (entries_.empty()) return settled;
  std::vector<ports::Outcome> by_token = outcomes;
  std::ranges::sort(by_token, {}, &ports::Outcome::token);
  std::vector<Entry> waiting;
  for (Entry& entry : entries_) {
    const auto answer = std::ranges::lower_bound(by_token, entry.token, {}, &ports::Outcome::token);
    if (answer != by_token.end() && answer->token == entry.token) {
      settled.push_back({std::move(entry.action), answer->kind, answer->why, entry.decided_at});
    } else if (const Duration timeout = timeout_of(entry.action); now - entry.submitted_at >= timeout) {
      const model::Reason silence{model::ReasonCode::outcome_unknown, {whole_seconds(timeout)}};
      settled.push_back({std::move(entry.action), ports::Outcome::Kind::unknown, silence, entry.decided_at});
    } else {
      waiting.push_back(std::move(entry));
    }
  }
  entries_ = std::move(waiting);
  return settled;
}

}  // namespace capstan::control
