#include "decide/scale/roles.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "decide/scale/by_policy.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;
using model::RoleLimits;

/// Recomputes the plan after the decision of a role has changed.
void recompute_plan(RolePart& part) {
  part.decision.plan = {};
  part.decision.drain.clear();
  part.decision = finish(std::move(part.decision), part.role);
}

/// Minimum of one role. It follows from the ratio limit and the replicas of the other role.
struct RoleBound {
  ReplicaCount least = 0;
  std::int64_t milli = 0;  ///< decode replicas per prefill replica, thousandths
};

RoleBound least_prefill(const RoleLimits& limits, ReplicaCount decode) {
  const std::int64_t most = limits.decode_per_prefill_most_milli;
  return most == 0 ? RoleBound{} : RoleBound{ceil_div(decode * 1000, most), most};
}

RoleBound least_decode(const RoleLimits& limits, ReplicaCount prefill) {
  const std::int64_t least = limits.decode_per_prefill_least_milli;
  return {ceil_div(prefill * least, 1000), least};
}

RoleBound ratio_bound(const RolePart& part, const RoleLimits& limits, ReplicaCount other) {
  return part.role.role == model::Role::prefill ? least_prefill(limits, other) : least_decode(limits, other);
}

void keep_ratio(RolePart& part, const RolePart& other, const RoleLimits& limits) {
  const RoleBound bound = ratio_bound(part, limits, other.decision.desired);
  const ReplicaCount least = std::min(bound.least, part.role.max);
  if (part.decision.desired >= least) return;
  part.decision.desired = least;
  part.decision.is_stated = false;
  part.decision.why = {ReasonCode::roles_in_ratio, {least, other.decision.desired, bound.milli}};
  recompute_plan(part);
}

/// Returns the replicas that serve or are converting to this role.
ReplicaCount serving(const RolePart& part) {
  return std::ranges::count_if(part.role.replicas, [](const WorkloadView::Replica& replica) {
    return replica.phase == model::Gang::Phase::ready ||
           (replica.resumed && replica.phase == model::Gang::Phase::starting);
  });
}

/// Returns the number of replicas of a role that have to serve now: the need of its load, at least its minimum.
ReplicaCount must_serve(const RolePart& part) { return std::max(part.decision.needed_now, part.role.min); }

/// Returns the replicas that a role lacks now, limited by its maximum.
ReplicaCount lacks(const RolePart& part) {
  const ReplicaCount room = std::max<ReplicaCount>(part.role.max - part.role.current, 0);
  return std::clamp<ReplicaCount>(must_serve(part) - serving(part), 0, room);
}

/// Returns true if a ready replica gives no usable reading, so that its load is unknown.
bool has_silent_replica(const RolePart& part) {
  return std::ranges::any_of(part.role.replicas, [](const WorkloadView::Replica& replica) {
    return replica.phase == model::Gang::Phase::ready && !replica.signals.waiting.usable();
  });
}

/// Returns how many replicas `from` can lend to `to` now. The replicas that remain must suffice for the present load
/// and for the ratio. Otherwise the same plan would convert a replica back. A role with a silent replica lends none
/// (invariant 3).
ReplicaCount lendable_now(const RolePart& from, const RolePart& to, const RoleLimits& limits) {
  if (has_silent_replica(from)) return 0;
  ReplicaCount count = std::min({lacks(to), serving(from) - must_serve(from), from.role.current - from.role.min});
  while (count > 0 && from.role.current - count < ratio_bound(from, limits, to.role.current + count).least) --count;
  return std::max<ReplicaCount>(count, 0);
}

/// Finds a replica by binary search: replicas are ordered by id.
auto find_replica(RolePart& part, model::GangId id) {
  return std::ranges::lower_bound(part.role.replicas, id, {}, &WorkloadView::Replica::id);
}

/// Returns `count` ready replicas, or all if there are fewer, the least loaded first.
std::vector<model::GangId> replicas_to_lend(RolePart& from, ReplicaCount count) {
  std::vector<model::GangId> ready = victims(from.role, 0);
  std::erase_if(ready, [&](model::GangId id) { return find_replica(from, id)->phase != model::Gang::Phase::ready; });
  ready.resize(std::min(ready.size(), static_cast<std::size_t>(count)));
  return ready;
}

/// Converts the replicas that must change their role, and updates the views of both parts accordingly.
void convert(RolePart& from, RolePart& to, const RoleLimits& limits) {
  const ReplicaCount lacking = lacks(to);
  const ReplicaCount lendable = lendable_now(from, to, limits);
  if (lendable == 0) return;
  const std::vector<model::GangId> going = replicas_to_lend(from, lendable);
  if (going.empty()) return;
  const auto count = static_cast<ReplicaCount>(going.size());
  to.decision.is_stated = from.decision.is_stated = false;
  to.decision.why = {ReasonCode::role_joined, {lacking, count}};
  from.decision.why = {ReasonCode::role_left, {count, from.role.current, lacking}};
  from.role.current -= count;
  to.role.current += count;
  for (const model::GangId gang : going) {
    const auto replica = find_replica(from, gang);
    replica->phase = model::Gang::Phase::starting;
    replica->resumed = true;
    to.role.replicas.insert(find_replica(to, gang), std::move(*replica));
    from.role.replicas.erase(replica);
    to.conversions.push_back({model::ConvertReplica{gang, from.role.service, to.role.service}, to.decision.why});
  }
}

/// Returns the replicas that the role needs at the end of the lead time, without surplus that a stabilization window
/// holds. Such surplus stays but is not replaced if it converts.
ReplicaCount needed_at_lead_time(const RolePart& part) {
  const Decision& decided = part.decision;
  if (decided.desired > decided.current) return decided.desired;
  return std::max(std::min(decided.proposed, decided.desired), part.role.min);
}

/// Returns how many replicas a role can lend to the other by the end of the lead time.
ReplicaCount lendable_later(const RolePart& from, const RolePart& to, const RoleLimits& limits) {
  const ReplicaCount in_ratio = ratio_bound(from, limits, to.decision.desired).least;
  const ReplicaCount keeps = std::max({needed_at_lead_time(from), from.decision.needed_now, in_ratio});
  return std::max<ReplicaCount>(from.role.current - keeps, 0);
}

ReplicaCount lacks_later(const RolePart& part) {
  return std::max<ReplicaCount>(needed_at_lead_time(part) - part.role.current, 0);
}

/// Returns the desired replicas of a role after the immediate conversions. Replicas that the role lacks are started if
/// the other role cannot lend them, and surplus replicas are stopped if the other role does not lack them.
ReplicaCount desired_after_conversions(const RolePart& part, const RolePart& other, const RoleLimits& limits) {
  const ReplicaCount more = std::max<ReplicaCount>(lacks_later(part) - lendable_later(other, part, limits), 0);
  const ReplicaCount stays = std::max(part.decision.desired, part.decision.needed_now);
  const ReplicaCount surplus = std::max<ReplicaCount>(part.role.current - stays, 0);
  const ReplicaCount lent = std::min(lendable_later(part, other, limits), lacks_later(other));
  return part.role.current + more - std::max<ReplicaCount>(surplus - lent, 0);
}

/// Sets the desired replicas after conversions. `Decision::current` stays the number before the conversions.
/// @param lendable  replicas that the other role can lend
void plan_after_conversions(RolePart& part, ReplicaCount desired, ReplicaCount lendable) {
  Decision& decided = part.decision;
  const bool changed = part.role.current != decided.current;
  if (!changed && desired < decided.desired) {
    decided.is_stated = false;
    decided.why = {ReasonCode::roles_suffice, {decided.desired, desired, lendable}};
  }
  decided.desired = desired;
  const ReplicaCount before = std::exchange(decided.current, part.role.current);
  recompute_plan(part);
  decided.current = before;
  // Conversions come first because the desired count includes them.
  std::vector<model::Action>& actions = decided.plan.actions;
  if (!part.conversions.empty()) decided.plan.no_actions.clear();
  actions.insert(actions.begin(), part.conversions.begin(), part.conversions.end());
}

/// Plans both roles as one fleet.
void plan_as_one_fleet(RolePart& prefill, RolePart& decode, const RoleLimits& limits) {
  convert(decode, prefill, limits);
  convert(prefill, decode, limits);
  const ReplicaCount prefills = desired_after_conversions(prefill, decode, limits);
  const ReplicaCount decodes = desired_after_conversions(decode, prefill, limits);
  const ReplicaCount to_prefill = lendable_later(decode, prefill, limits),
                     to_decode = lendable_later(prefill, decode, limits);
  plan_after_conversions(prefill, prefills, to_prefill);
  plan_after_conversions(decode, decodes, to_decode);
}

/// Returns true if converting is faster than starting, and neither role has to survive the loss of a domain.
bool can_convert(const RolePart& prefill, const RolePart& decode, const RoleLimits& limits) {
  const auto slower = [&](const RolePart& part) {
    return part.decision.lead && limits.conversion >= *part.decision.lead;
  };
  const bool must_spread = prefill.role.spread || decode.role.spread;
  return limits.conversion > Duration{} && !must_spread && !slower(prefill) && !slower(decode);
}

}  // namespace

model::ServiceId other_role(const model::Catalog& catalog, model::ServiceId service) {
  if (const model::ServiceId prefill = catalog.service(service).prefill_service; prefill.valid()) return prefill;
  const auto decode = std::ranges::find(catalog.services, service, &model::Service::prefill_service);
  return decode == catalog.services.end()
             ? model::ServiceId{}
             : model::ServiceId{static_cast<std::uint32_t>(decode - catalog.services.begin())};
}

bool is_paired(const model::Catalog& catalog, model::ServiceId service, const Policy& policy) {
  const bool own = std::holds_alternative<Capstan>(policy) || std::holds_alternative<Rules>(policy);
  return own && catalog.service(service).role_limits != RoleLimits();
}

void reconcile_roles(const model::Catalog& catalog, std::map<model::ServiceId, RolePart>& parts) {
  for (auto& [service, decode] : parts) {
    const auto prefill = parts.find(catalog.service(service).prefill_service);
    if (prefill == parts.end() || prefill->first == service) continue;
    const RoleLimits& limits = catalog.service(service).role_limits;
    keep_ratio(prefill->second, decode, limits);
    keep_ratio(decode, prefill->second, limits);
    if (can_convert(prefill->second, decode, limits)) plan_as_one_fleet(prefill->second, decode, limits);
  }
}

}  // namespace capstan::decide::scale
