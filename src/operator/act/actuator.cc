#include "operator/act/actuator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "kube/well_known_labels.h"
#include "manifest/scalars.h"
#include "model/capacity_names.h"
#include "operator/snapshot/gpu_holders.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/pod_groups.h"

namespace capstan::op {
namespace {

using actuate::DrainMeans;
using actuate::Ref;

/// Annotation on a workload: the longest time that its replicas may drain.
constexpr std::string_view kDrainLimit = "capstan.dev/drain-limit";

const kube::Resource& resource_of(const kube::Workload& workload, const ScaledTargets& scaled) {
  for (const ScaledTargets::Target& target : scaled.targets) {
    if (&target.workload == &workload) return target.resource;
  }
  if (workload.kind == "StatefulSet") return kube::resources::kStatefulSets;
  return workload.kind == "LeaderWorkerSet" ? kube::resources::kLeaderWorkerSets : kube::resources::kDeployments;
}

/// Returns the means of draining that the pod template states. If the template is unknown, the first pod states them.
DrainMeans drain_means(const kube::Workload& workload, const std::vector<PodGroup>& replicas) {
  if (!workload.pod.containers.empty() || replicas.empty()) return actuate::drain_means_of(workload);
  kube::Workload with_pods = workload;
  with_pods.pod.readiness_gates = replicas.front().pods.front()->spec.readiness_gates;
  return actuate::drain_means_of(with_pods);
}

Ref ref_of(const kube::Resource& resource, const kube::Meta& meta) {
  return {{resource, meta.ns, meta.name}, meta.uid};
}

/// Returns the time since which the router sends no requests to the pod. If a label takes the pod out of the router,
/// the time is unknown, and the function returns `now`.
Instant out_of_router_since(const kube::Pod& pod, Instant now) {
  const kube::Condition* gate = kube::find_condition(pod.conditions, actuate::kServingGate);
  return gate != nullptr && gate->since.is_set() ? instant_of(gate->since) : now;
}

/// Returns true if the object is a node, or the claim of a node, that is held for a gang.
bool is_held(const kube::Meta& meta) {
  return meta.labels.has(actuate::kClaimGroup) && meta.annotations.has(actuate::kDoNotDisrupt);
}

template <typename View>
bool has_equal_rows(const kube::StoreSnapshot<View>& a, const kube::StoreSnapshot<View>& b) {
  bool equal = true;
  b.rows.for_each_change(a.rows, [&](kube::RowId, const auto*, const auto*) { equal = false; });
  return equal;
}

/// Returns true if the lookup tables of one view are also those of the other.
bool shares_lookup_tables(const ClusterView& a, const ClusterView& b) {
  return a.scaled != nullptr && has_equal_rows(a.pods, b.pods) && has_equal_rows(a.nodes, b.nodes) &&
         has_equal_rows(a.deployments, b.deployments) && has_equal_rows(a.stateful_sets, b.stateful_sets) &&
         has_equal_rows(a.leader_worker_sets, b.leader_worker_sets) &&
         has_equal_rows(a.resource_slices, b.resource_slices) && has_equal_rows(a.resource_claims, b.resource_claims) &&
         (a.scaled == b.scaled || *a.scaled == *b.scaled);
}

/// Updates the rows whose objects match, after the objects of `before` have become those of `after`.
template <typename View, typename Matches>
void follow(std::set<kube::RowId>& rows, const kube::StoreSnapshot<View>& before,
            const kube::StoreSnapshot<View>& after, Matches matches) {
  after.rows.for_each_change(before.rows, [&](kube::RowId row, const auto*, const auto* now) {
    if (now != nullptr && matches(**now)) {
      rows.insert(row);
    } else {
      rows.erase(row);
    }
  });
}

bool is_leaving_group(const PodGroup& group) {
  return std::ranges::any_of(group.pods, [](const kube::Pod* pod) { return pod->meta.terminating(); });
}

/// Returns the labels that distinguish the nodes of the offering from other nodes of the pool.
actuate::RequiredLabels required_labels_of(const model::Catalog& catalog, const model::Offering& offering) {
  actuate::RequiredLabels pick = {
      {std::string(kube::labels::kInstanceType), offering.instance_type},
      {std::string(kube::labels::kCapacityType), std::string(model::name(offering.capacity).label)}};
  const model::Domain& zone = catalog.domain(offering.zone);
  if (zone.level == model::TopologyLevel::zone) pick.emplace_back(kube::labels::kZone, zone.name);
  return pick;
}

}  // namespace

Actuator::Actuator(Dependencies dependencies) : dependencies_(std::move(dependencies)) { begin(); }
Actuator::~Actuator() = default;

/// Drops unfinished effects of an earlier leadership. This is safe because every effect reads before it writes.
void Actuator::begin() {
  effects_.reset();
  objects_ = nullptr;
  runner_ = std::make_unique<actuate::Runner>(dependencies_.client, dependencies_.clock, dependencies_.fence,
                                              RandomStream(dependencies_.random.bits(), "runner"));
  effects_ = std::make_unique<actuate::ActionDispatcher>(*runner_, static_cast<const actuate::References&>(*this),
                                                         dependencies_.clock, dependencies_.wall,
                                                         dependencies_.identity + "/" + std::to_string(++begun_));
}

void Actuator::set_view(const ClusterView& view, const SnapshotBuilder& objects, const Readings& readings) {
  const ClusterView before = std::exchange(view_, view);
  if (shares_lookup_tables(before, view)) {
    view_.scaled = before.scaled;  // the lookup tables point into it
  } else {
    index_.reset();
  }
  if (!first_pass_) first_pass_ = dependencies_.clock();
  follow_pods(before.pods);
  follow(held_claims_, before.claims, view_.claims, [](const kube::NodeClaim& claim) { return is_held(claim.meta); });
  follow(held_nodes_, before.nodes, view_.nodes, [](const kube::Node& node) { return is_held(node.meta); });
  objects_ = &objects;
  report_loads(readings);
  update_routing();
  if (fleet_policy(view_.fleet).placement == Mode::active) end_bindings();
  if (fleet_policy(view_.fleet).nodes == Mode::active) end_holds();
}

/// Follows which pods have served, and which have an annotation of a bind transaction.
void Actuator::follow_pods(const kube::StoreSnapshot<kube::Pod>& before) {
  using Row = std::shared_ptr<const kube::Pod>;
  std::set<std::string> gone;  // UIDs of pods that have served and whose row has changed
  const auto& rows = view_.pods.rows;
  rows.for_each_change(before.rows, [&](kube::RowId, const Row* old, const Row*) {
    if (old != nullptr && served_.erase((*old)->meta.uid) > 0) gone.insert((*old)->meta.uid);
  });
  rows.for_each_change(before.rows, [&](kube::RowId, const Row*, const Row* now) {
    if (now == nullptr) return;
    if ((*now)->ready() || gone.contains((*now)->meta.uid)) served_.insert((*now)->meta.uid);
  });
  follow(with_bind_intent_, before, view_.pods,
         [](const kube::Pod& pod) { return pod.meta.annotations.has(actuate::kBindIntent); });
}

Actuator::Index::Index(const ClusterView& view)
    : targets(view), pods(view.pods), used_nodes(GpuHolders(view).used_nodes(view.pods)) {
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) { by_uid[pod.meta.uid] = &pod; });
}

const Actuator::Index& Actuator::index() const {
  if (!index_) {
    index_.emplace(view_);
    ++indexes_built_;
  }
  return *index_;
}

/// Finishes the bind transactions of an earlier leader. The runner already knows the transactions of this process.
void Actuator::end_bindings() {
  std::vector<const kube::Pod*> annotated_pods;
  for (const kube::RowId row : with_bind_intent_) annotated_pods.push_back(view_.pods.rows.at(row).get());
  effects_->resume_binds(annotated_pods);
}

/// Ends the hold of each node that was held for a gang and that pods use now.
void Actuator::end_holds() {
  std::vector<actuate::Ref> held;
  for (const kube::RowId row : held_claims_) {
    const kube::NodeClaim& claim = *view_.claims.rows.at(row);
    if (index().used_nodes.contains(claim.node)) held.push_back(ref_of(kube::resources::kNodeClaims, claim.meta));
  }
  for (const kube::RowId row : held_nodes_) {
    const kube::Node& node = *view_.nodes.rows.at(row);
    if (index().used_nodes.contains(node.meta.name)) held.push_back(ref_of(kube::resources::kNodes, node.meta));
  }
  effects_->release_holds(held);
}

/// Tells the drains how many requests each pod has. The count is usable only if both waiting and running are known.
void Actuator::report_loads(const Readings& readings) {
  const Instant now = dependencies_.clock();
  std::map<std::string, actuate::ScaleGoal::Load> loads;
  for (const auto& [uid, signals] : readings.entries()) {
    const bool usable = signals.waiting.usable() && signals.running.usable();
    loads[uid] = {.usable = usable,
                  .requests = signals.waiting.value + signals.running.value,
                  .measured_at = now - std::max(signals.waiting.age, signals.running.age)};
  }
  effects_->update_loads(loads);
}

void Actuator::update_routing() {
  std::vector<actuate::ActionDispatcher::RoutedPod> routed;
  std::set<std::string> active;
  for (const auto& [id, origin] : objects_->services()) {
    if (origin.mode != Mode::active) continue;
    const kube::Workload* workload = index().targets.find(origin.ns, origin.target);
    if (workload == nullptr) continue;
    active.insert(workload->meta.uid);
    const std::vector<PodGroup> replicas = replicas_of(*workload, index().pods.candidates(*workload));
    const DrainMeans means = drain_means(*workload, replicas);
    if (!means.drains_by_router()) continue;
    for (const PodGroup& group : replicas) {
      const kube::Pod& pod = *group.pods.front();
      if (is_leaving_group(group)) continue;
      const bool label = means.kind == DrainMeans::Kind::router_label;
      const bool gated =
          std::ranges::find(pod.spec.readiness_gates, actuate::kServingGate) != pod.spec.readiness_gates.end();
      const bool decided = label || !gated || kube::find_condition(pod.conditions, actuate::kServingGate) != nullptr;
      routed.push_back(
          {ref_of(kube::resources::kPods, pod.meta), means, actuate::is_out_of_router(pod, means), decided});
    }
  }
  effects_->cancel_except(active);
  effects_->update_routing(routed);
}

void Actuator::submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) {
  snapshot_ = &seen;
  effects_->submit(token, action, seen);
  snapshot_ = nullptr;
}

std::optional<actuate::Target> Actuator::target(model::ServiceId service) const {
  const auto origin = objects_->services().find(service);
  if (origin == objects_->services().end()) return std::nullopt;
  const kube::Workload* workload = index().targets.find(origin->second.ns, origin->second.target);
  if (workload == nullptr) return std::nullopt;
  actuate::Target target;
  const std::vector<PodGroup> replicas = replicas_of(*workload, index().pods.candidates(*workload));
  target.ref = ref_of(resource_of(*workload, *view_.scaled), workload->meta);
  target.kind = workload->kind;
  target.means = drain_means(*workload, replicas);
  target.drain_limit = manifest::read_duration(workload->meta.annotations.get(kDrainLimit));
  target.first_ordinal = static_cast<std::uint32_t>(workload->first_ordinal);
  std::map<std::string, model::GangId> gangs;  // gangs by UID of their first pod
  snapshot_->gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    const ObjectKey* pod = gang.service == service ? objects_->pod(gang.pods.front()) : nullptr;
    if (pod != nullptr) gangs[pod->uid] = id;
  });
  for (const PodGroup& group : replicas) {
    if (is_leaving_group(group)) continue;
    actuate::Target::Replica replica = replica_of(*group.pods.front(), target.means);
    replica.name = group.name;
    replica.ordinal = group.ordinal;
    if (const auto gang = gangs.find(replica.pod.uid); gang != gangs.end()) replica.gang = gang->second;
    target.replicas.push_back(std::move(replica));
  }
  return target;
}

actuate::Target::Replica Actuator::replica_of(const kube::Pod& pod, const DrainMeans& means) const {
  actuate::Target::Replica replica;
  replica.pod = ref_of(kube::resources::kPods, pod.meta);
  replica.ready = pod.ready();
  if (actuate::is_out_of_router(pod, means))
    replica.out_of_router_since = out_of_router_since(pod, dependencies_.clock());
  // A pod that is older than this process may have served before, so it may hold requests.
  const bool older = !first_pass_ || instant_of(pod.meta.created_at) < *first_pass_;
  const kube::Condition* gate = kube::find_condition(pod.conditions, actuate::kServingGate);
  const bool may_have_traffic = gate != nullptr && !gate->is_false;  // the router may have sent it requests
  replica.ever_served = older || may_have_traffic || served_.contains(pod.meta.uid);
  return replica;
}

const kube::Pod* Actuator::find_pod(model::PodId id) const {
  const ObjectKey* key = objects_->pod(id);
  const auto found = key == nullptr ? index().by_uid.end() : index().by_uid.find(key->uid);
  return found == index().by_uid.end() ? nullptr : found->second;
}

std::optional<actuate::Ref> Actuator::pod(model::PodId id) const {
  const kube::Pod* pod = find_pod(id);
  if (pod == nullptr || pod->spec.scheduler != kScheduler) return std::nullopt;  // another scheduler owns it
  return ref_of(kube::resources::kPods, pod->meta);
}

std::optional<actuate::Binding> Actuator::binding(const model::BindPods::Binding& binding) const {
  const kube::Pod* pod = find_pod(binding.pod);
  const ObjectKey* node = objects_->node(binding.node);
  const bool ours = pod != nullptr && pod->spec.scheduler == kScheduler;
  if (!ours || pod->bound() || node == nullptr) return std::nullopt;
  return actuate::Binding{ref_of(kube::resources::kPods, pod->meta), pod->meta.resource_version, node->name};
}

std::optional<actuate::ClaimGroup> Actuator::nodes(const model::LaunchNodes& launch) const {
  const model::Catalog& catalog = *snapshot_->catalog;
  const model::Offering& offering = catalog.offering(launch.offering);
  actuate::ClaimGroup group;
  view_.pools.for_each([&](kube::RowId, const kube::NodePool& pool) {
    if (pool.meta.name == catalog.pool(launch.pool).name) group.pool = pool;
  });
  if (group.pool.meta.name.empty()) return std::nullopt;
  group.required_labels = required_labels_of(catalog, offering);
  group.requests.add(gpu_resource_of(launch.gang), offering.gpus * 1'000);
  if (launch.domain.valid()) {
    const model::Level level = catalog.domain(launch.domain).level;
    if (!catalog.is_chosen_at_launch(level)) return std::nullopt;
    group.domain = level == model::TopologyLevel::zone ? "zone" : "cluster";
  }
  return group;
}

/// Returns the GPU resource that the pods of the gang request. Without pods it is nvidia.com/gpu.
std::string Actuator::gpu_resource_of(model::GangId id) const {
  const model::Gang* gang = id.valid() ? snapshot_->gangs.find(id) : nullptr;
  const kube::Pod* pod = gang == nullptr ? nullptr : find_pod(gang->pods.front());
  if (pod != nullptr) {
    for (const auto& [name, milli] : pod->spec.requests.milli) {
      if (name.ends_with("/gpu") && milli > 0) return name;
    }
  }
  return "nvidia.com/gpu";
}

/// Returns the NodeClaims of the group that have no node, or whose node has no GPUs in use.
std::vector<actuate::Ref> Actuator::claims(model::ClaimGroupId group) const {
  std::vector<actuate::Ref> claims;
  const ObjectKey* key = objects_->group(group);
  if (key == nullptr) return claims;
  view_.claims.for_each([&](kube::RowId, const kube::NodeClaim& claim) {
    const bool unused = claim.node.empty() || !index().used_nodes.contains(claim.node);
    if (claim.meta.labels.get(actuate::kClaimGroup) != key->name || !unused) return;
    claims.push_back(ref_of(kube::resources::kNodeClaims, claim.meta));
  });
  return claims;
}

std::optional<actuate::Ref> Actuator::claim(model::NodeId id) const {
  const ObjectKey* node = objects_->node(id);
  if (node == nullptr || index().used_nodes.contains(node->name)) return std::nullopt;
  std::optional<actuate::Ref> found;
  view_.claims.for_each([&](kube::RowId, const kube::NodeClaim& claim) {
    if (claim.node == node->name) found = ref_of(kube::resources::kNodeClaims, claim.meta);
  });
  return found;
}

}  // namespace capstan::op
