#include "actuate/action_dispatcher.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <variant>

#include "actuate/change_all.h"
#include "actuate/claims.h"
#include "actuate/evict.h"
#include "actuate/gang_bind.h"
#include "base/hash.h"

namespace capstan::actuate {

using model::ReasonCode;

namespace {

EffectResult refused_as_gone() { return EffectResult::refused({ReasonCode::object_gone, {}}); }

std::string key_of(const char* operation, const Ref& ref) {
  return std::string(operation) + "/" + ref.object.resource.name() + "/" + kube::key_of(ref.object.ns, ref.object.name);
}

std::string serving_key(const Ref& pod) { return key_of("serving", pod); }

/// Returns the replicas that will be removed.
std::vector<Target::Replica> victims_of(const Target& target, const model::SetReplicas& set) {
  std::vector<RemovableReplica> removable;
  for (const Target::Replica& replica : target.replicas) {
    const auto named = std::ranges::find(set.drain, replica.gang);
    RemovableReplica candidate{replica.name, replica.ordinal, {}, replica.ready && !replica.out_of_router_since};
    if (named != set.drain.end()) candidate.rank = static_cast<std::size_t>(named - set.drain.begin());
    removable.push_back(std::move(candidate));
  }
  std::vector<Target::Replica> victims;
  for (const std::size_t i : choose_victims(removal_of(target.kind), removable, target.first_ordinal, set.replicas)) {
    victims.push_back(target.replicas[i]);
  }
  return victims;
}

}  // namespace

ActionDispatcher::ActionDispatcher(Runner& runner, const References& references, net::Clock clock, kube::WallClock wall,
                                   std::string holder)
    : runner_(runner),
      references_(references),
      clock_(std::move(clock)),
      wall_(std::move(wall)),
      holder_(std::move(holder)) {}

void ActionDispatcher::submit(model::ActionToken token, const model::Action& action, const model::Snapshot& snapshot) {
  if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) {
    set_replicas(token, *set, snapshot);
  } else if (const auto* bound = std::get_if<model::BindPods>(&action.effect)) {
    bind(token, *bound);
  } else if (const auto* nodes = std::get_if<model::LaunchNodes>(&action.effect)) {
    launch(token, *nodes);
  } else if (const auto* group = std::get_if<model::ReleaseGroup>(&action.effect)) {
    delete_claims(token, "group/" + std::to_string(group->group.value), references_.claims(group->group));
  } else if (const auto* node = std::get_if<model::TerminateNode>(&action.effect)) {
    const std::optional<Ref> claim = references_.claim(node->node);
    if (!claim) return runner_.answer(token, EffectResult::refused({ReasonCode::node_without_claim, {}}));
    delete_claims(token, key_of("claim", *claim), {*claim});
  } else if (std::holds_alternative<model::ConvertReplica>(action.effect)) {
    // Pods cannot be moved from one workload object to another, so no service of a cluster supports conversion.
    runner_.answer(token, EffectResult::refused({ReasonCode::outcome_refused, {}}));
  } else {
    const std::optional<Ref> pod = references_.pod(std::get<model::EvictPod>(action.effect).pod);
    if (!pod) return runner_.answer(token, refused_as_gone());
    // A pod is evicted only if its gang lacks pods and is given up. If a disruption budget refuses the eviction, the
    // effect ends at once, because the gang may be complete again before the budget allows it. A later decision asks
    // again if necessary.
    runner_.submit(key_of("evict", *pod), token,
                   std::make_unique<Evict>(*pod, RandomStream(token.value, "evict"), Duration{}));
  }
}

void ActionDispatcher::set_replicas(model::ActionToken token, const model::SetReplicas& set,
                                    const model::Snapshot& snapshot) {
  const std::optional<Target> target = references_.target(set.service);
  if (!target || snapshot.services.find(set.service) == nullptr) return runner_.answer(token, refused_as_gone());
  const std::string key = key_of("scale", target->ref);
  std::shared_ptr<ScaleGoal> goal = goals_[key].lock();
  const bool continues = goal != nullptr && runner_.take_over(key, token);
  if (!continues) goal = std::make_shared<ScaleGoal>();
  goal->target = target->ref;
  goal->requested_before = snapshot.services.at(set.service).desired_replicas;
  goal->desired = set.replicas;
  goal->means = target->means;
  // If Capstan does not know which replicas this kind of workload removes, it cannot drain them beforehand.
  const Removal removal = removal_of(target->kind);
  if (removal == Removal::unknown && goal->means.drains_by_router()) goal->means = {};
  goal->can_mark = removal == Removal::marked;
  if (target->drain_limit) goal->drain_limit = *target->drain_limit;
  goal->victims.clear();
  goal->never_served.clear();
  goal->serving_at_decision.clear();
  goal->lost = 0;
  if (set.replicas < goal->requested_before) {
    for (const Target::Replica& victim : victims_of(*target, set)) {
      goal->victims.push_back(victim.pod);
      if (!victim.ever_served && !runner_.busy(serving_key(victim.pod))) goal->never_served.insert(victim.pod.uid);
    }
    for (const Target::Replica& replica : target->replicas) {
      if (goal->means.drains_by_router() && replica.ever_served) goal->serving_at_decision.insert(replica.pod.uid);
    }
  }
  goal->drained.clear();
  for (const Target::Replica& replica : target->replicas) {
    if (replica.out_of_router_since) goal->drained.push_back({replica.pod, *replica.out_of_router_since});
  }
  goal->is_cancelled = false;
  goal->revision += 1;
  if (continues) return;
  goals_[key] = goal;
  runner_.submit(key, token, std::make_unique<ScaleTo>(goal, wall_));
}

void ActionDispatcher::bind(model::ActionToken token, const model::BindPods& bind) {
  std::vector<Binding> bindings;
  for (const model::BindPods::Binding& planned : bind.bindings) {
    std::optional<Binding> binding = references_.binding(planned);
    if (!binding) return runner_.answer(token, refused_as_gone());
    bindings.push_back(std::move(*binding));
  }
  if (bindings.empty()) return runner_.answer(token, EffectResult::applied());
  const std::string transaction = name_of(token);
  runner_.submit("bind/" + transaction, token, std::make_unique<GangBind>(transaction, std::move(bindings)));
}

void ActionDispatcher::launch(model::ActionToken token, const model::LaunchNodes& launch) {
  std::optional<ClaimGroup> group = references_.nodes(launch);
  if (!group) return runner_.answer(token, refused_as_gone());
  group->name = name_of(token);
  group->count = launch.count;
  group->is_all_or_none = launch.hold > Duration::zero();
  runner_.submit("launch/" + group->name, token, std::make_unique<LaunchGroup>(std::move(*group)));
}

void ActionDispatcher::delete_claims(model::ActionToken token, const std::string& key, const std::vector<Ref>& claims) {
  std::vector<Change> changes;
  for (const Ref& claim : claims) changes.push_back(delete_claim(claim));
  runner_.submit(key, token, std::make_unique<ChangeAll>(std::move(changes)));
}

/// Returns a name that is unique for this action and this leader, and short enough for a label.
std::string ActionDispatcher::name_of(model::ActionToken token) const {
  char text[16];
  const std::uint64_t hash = hash_text(holder_) & 0xffff'ffffULL;
  return std::string(text, std::to_chars(text, text + sizeof text, hash, 36).ptr) + "-" + std::to_string(token.value);
}

void ActionDispatcher::update_loads(const std::map<std::string, ScaleGoal::Load>& loads) {
  const Instant now = clock_();
  for (auto at = goals_.begin(); at != goals_.end();) {
    const std::shared_ptr<ScaleGoal> goal = at->second.lock();
    if (goal == nullptr) {
      at = goals_.erase(at);
      continue;
    }
    goal->loads.clear();
    for (const Ref& victim : goal->victims) {
      leaving_[victim.uid] = now + kRemovedPodVisibleMax;
      if (const auto load = loads.find(victim.uid); load != loads.end()) goal->loads.insert(*load);
    }
    ++at;
  }
  std::erase_if(leaving_, [&](const auto& entry) { return now >= entry.second; });
}

void ActionDispatcher::cancel_except(const std::set<std::string>& targets) {
  for (const auto& [key, weak] : goals_) {
    const std::shared_ptr<ScaleGoal> goal = weak.lock();
    if (goal == nullptr || goal->is_cancelled || targets.contains(goal->target.uid)) continue;
    goal->is_cancelled = true;
    goal->revision += 1;
  }
}

/// Returns the UIDs of the pods that are about to be removed.
std::set<std::string> ActionDispatcher::victims() const {
  std::set<std::string> uids;
  for (const auto& [key, weak] : goals_) {
    const std::shared_ptr<ScaleGoal> goal = weak.lock();
    if (goal == nullptr || goal->is_cancelled) continue;
    for (const Ref& victim : goal->victims) uids.insert(victim.uid);
  }
  return uids;
}

/// Counts, for every scale-down in progress, the replicas that served at the decision and are gone.
void ActionDispatcher::update_lost(std::span<const RoutedPod> pods) {
  std::set<std::string_view> present;
  for (const RoutedPod& routed : pods) present.insert(routed.pod.uid);
  for (const auto& [key, weak] : goals_) {
    const std::shared_ptr<ScaleGoal> goal = weak.lock();
    if (goal == nullptr || goal->is_cancelled) continue;
    goal->lost = std::ranges::count_if(goal->serving_at_decision,
                                       [&](const std::string& uid) { return !present.contains(uid); });
  }
}

void ActionDispatcher::update_routing(std::span<const RoutedPod> pods) {
  update_lost(pods);
  const Instant now = clock_();
  const std::set<std::string> leaving = victims();
  if (!first_pass_) first_pass_ = now;
  for (const RoutedPod& routed : pods) {
    // The first decisions of a new leader continue or cancel the drains of the earlier leader. Therefore no pod counts
    // as abandoned within kRemovedPodVisibleMax after the first pass.
    const bool is_abandoned =
        routed.is_out && !leaving_.contains(routed.pod.uid) && now - *first_pass_ >= kRemovedPodVisibleMax;
    const bool is_new = !routed.has_gate && !leaving.contains(routed.pod.uid);
    const std::string key = serving_key(routed.pod);
    if (!(is_abandoned || is_new) || runner_.busy(key)) continue;
    std::vector<Change> changes;
    if (is_abandoned) {
      changes = {mark_for_deletion(routed.pod, false), set_serving(routed.pod, routed.means, true, wall_())};
    } else {
      changes = {open_gate(routed.pod, wall_())};
    }
    runner_.submit(key, {}, std::make_unique<ChangeAll>(std::move(changes)));
  }
}

void ActionDispatcher::release_holds(std::span<const Ref> held) {
  for (const Ref& ref : held) {
    const std::string key = key_of("hold", ref);
    if (runner_.busy(key)) continue;
    std::vector<Change> changes = {allow_disruption(ref)};
    runner_.submit(key, {}, std::make_unique<ChangeAll>(std::move(changes)));
  }
}

void ActionDispatcher::resume_binds(std::span<const kube::Pod* const> pods) {
  for (UnfinishedBind& found : unfinished_binds(pods)) {
    const std::string key = "bind/" + found.transaction;
    if (!runner_.busy(key)) runner_.submit(key, {}, std::make_unique<GangBind>(std::move(found)));
  }
}

}  // namespace capstan::actuate
