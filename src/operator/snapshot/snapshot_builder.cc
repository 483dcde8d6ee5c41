#include "operator/snapshot/snapshot_builder.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "actuate/bind_intent.h"
#include "actuate/node_claim.h"
#include "kube/well_known_labels.h"
#include "model/capacity_names.h"
#include "operator/snapshot/claim_times.h"
#include "operator/snapshot/full_build.h"
#include "operator/snapshot/pod_node.h"
#include "operator/snapshot/start_times.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/pool_sales.h"

namespace capstan::op {
namespace {

/// The limit of a pool that states none.
constexpr GpuCount kNoLimit = 10'000'000;

model::CapacityType capacity_of(std::string_view label) {
  return enum_named<model::CapacityType>(model::kCapacityLabels, label).value_or(model::CapacityType::on_demand);
}

Instant ready_since(const std::vector<kube::Condition>& conditions, const kube::Meta& meta) {
  const kube::Condition* ready = kube::find_condition(conditions, "Ready");
  return instant_of(ready != nullptr && ready->since.is_set() ? ready->since : meta.created_at);
}

model::Node::Phase phase_of(const kube::Node& node) {
  if (node.meta.terminating()) return model::Node::Phase::terminating;
  return node.ready() && !node.unschedulable ? model::Node::Phase::ready : model::Node::Phase::cordoned;
}

/// Returns the labels of a claim. Karpenter sets them at the launch; before that, a requirement with one value stands
/// for its label.
kube::StringMap labels_of(const kube::NodeClaim& claim) {
  kube::StringMap labels = claim.meta.labels;
  for (const kube::Requirement& requirement : claim.spec.requirements) {
    const bool one = requirement.op == "In" && requirement.values.size() == 1;
    if (one && !labels.has(requirement.key)) labels.set(requirement.key, requirement.values.front());
  }
  return labels;
}

/// Returns the step limits of a workload's engine, from its template, or from a pod if the template is unknown.
model::StepLimits step_limits_of(const kube::Workload& workload, const std::vector<PodGroup>& replicas) {
  std::vector<const kube::PodSpec*> specs = {&workload.pod};
  if (workload.leader) specs.insert(specs.begin(), &*workload.leader);
  if (workload.pod.containers.empty() && !replicas.empty()) specs = {&replicas.front().pods.front()->spec};
  for (const kube::PodSpec* spec : specs) {
    for (const kube::Container& container : spec->containers) {
      if (container.step_limits == manifest::StepLimits{}) continue;
      return {static_cast<std::int32_t>(container.step_limits.sequences),
              static_cast<std::int32_t>(container.step_limits.tokens)};
    }
  }
  return {};
}

GpuCount gpu_limit_of(const kube::NodePool& pool) {
  if (!pool.limits) return kNoLimit;
  std::optional<std::int64_t> milli;
  for (const auto& [name, amount] : pool.limits->milli) {
    if (name.ends_with("/gpu")) milli = milli.value_or(0) + amount;
  }
  return milli ? std::clamp<GpuCount>(*milli / 1000, 0, kNoLimit) : kNoLimit;
}

/// Returns the scalers from oldest to newest. If two have the same target, the older one gets it.
std::vector<const InferenceScaler*> by_age(const kube::StoreSnapshot<InferenceScaler>& scalers) {
  std::vector<const InferenceScaler*> sorted;
  scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) { sorted.push_back(&scaler); });
  std::ranges::sort(sorted, {}, [](const InferenceScaler* scaler) {
    return std::tuple(scaler->meta.created_at, scaler->meta.key());
  });
  return sorted;
}

/// Replaces the rows of a table and does not touch equal rows. Returns the ids that were set or erased, ascending.
template <typename IdType, typename T>
std::vector<IdType> replace(SharedTable<IdType, T>& table, const std::map<IdType, T>& rows) {
  std::vector<IdType> changed;
  table.for_each([&](IdType id, const T&) {
    if (!rows.contains(id)) changed.push_back(id);
  });
  for (const IdType id : changed) table.erase(id);
  for (const auto& [id, row] : rows) {
    const T* old = table.find(id);
    if (old != nullptr && *old == row) continue;
    table.set(id, row);
    changed.push_back(id);
  }
  std::ranges::sort(changed);
  return changed;
}

}  // namespace

void SnapshotBuilder::expect(const std::vector<const kube::Pod*>& first_pods) {
  for (const kube::Pod* pod : first_pods) gangs_.expect(key_of("Gang", pod->meta));
}

SnapshotBuilder::Seen SnapshotBuilder::build(const ClusterView& view, const Readings& readings, Instant at) {
  if (std::optional<Seen> seen = follow(view, readings, at)) return *std::move(seen);
  ++complete_looks_;
  return look_at_everything(view, readings, at);
}

SnapshotBuilder::Seen SnapshotBuilder::look_at_everything(const ClusterView& view, const Readings& readings,
                                                          Instant at) {
  FullBuild build(view, readings, eligibility_);
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (const std::string node = node_held_by(pod, build.fleet); !node.empty() && !pod.over()) {
      build.eligibility.use(node, pod.spec);
    }
  });
  catalog_.add_topologies(build.fleet.topologies);
  read_nodes(build);
  read_pools(build);
  read_claims(build);
  read_services(build);
  read_other_pods(build);
  read_other_holders(build);
  number_gangs(build);
  const bool clamped = clamp_moments(build, at);
  catalog_.set_queues(build.queues.rows());
  catalog_.set_eligibility(build.eligibility.finish(build.nodes), eligibility_.extended.names());

  Seen seen;
  seen.delta.from_version = last_.version;
  last_.at = at;
  ++last_.version;
  follow_catalog(seen.delta);
  seen.delta.to_version = last_.version;
  seen.delta.services = replace(last_.services, build.services);
  seen.delta.nodes = replace(last_.nodes, build.nodes);
  seen.delta.claims = replace(last_.claims, build.claims);
  seen.delta.gangs = replace(last_.gangs, build.gangs);
  seen.delta.pods = replace(last_.pods, build.pods);
  seen.delta.signals = replace(last_.signals, build.signals);
  seen.snapshot = last_;
  last_build_ = {.is_complete = !clamped,
                 .view = view,
                 .readings = readings,
                 .replicas = std::move(build.replicas),
                 .serving = {}};
  last_build_.replicas.index();
  keep_serving();
  seen.serving = last_build_.serving;
  services_.forget_unseen();
  nodes_.forget_unseen();
  claims_.forget_unseen();
  groups_.forget_unseen();
  gangs_.forget_unseen();
  pods_.forget_unseen();
  return seen;
}

/// Publishes the catalog if it differs from the last one. Otherwise the snapshot keeps the last one.
void SnapshotBuilder::follow_catalog(model::Delta& delta) {
  static const model::Catalog kNone;
  const bool is_first = last_.catalog == nullptr;
  delta.catalog = model::changes_between(is_first ? kNone : *last_.catalog, catalog_.rows());
  if (is_first || delta.catalog.any()) last_.catalog = catalog_.catalog();
}

/// Moves moments after `at` to `at`, so that no age is negative. The clock of another machine can be ahead of ours.
/// @return true if a moment was moved
bool SnapshotBuilder::clamp_moments(FullBuild& build, Instant at) {
  bool clamped = false;
  const auto clamp = [&](Instant& moment) {
    clamped = clamped || moment > at;
    moment = std::min(moment, at);
  };
  for (auto& [id, node] : build.nodes) clamp(node.ready_at);
  for (auto& [id, claim] : build.claims) clamp(claim.requested_at);
  for (auto& [id, gang] : build.gangs) clamp(gang.created_at);
  for (auto& [id, pod] : build.pods) clamp(pod.created_at);
  return clamped;
}

void SnapshotBuilder::read_nodes(FullBuild& build) {
  build.view.nodes.for_each([&](kube::RowId, const kube::Node& node) {
    const GpuHolders::Described& described = build.holders.on_node(node.meta.name);
    const bool by_devices = gpus_of(node.allocatable) == MilliGpu{};  // no device plugin offers its GPUs
    const MilliGpu gpus = by_devices ? whole_gpus(described.gpus) : gpus_of(node.allocatable);
    if (gpus == MilliGpu{}) return;
    const kube::StringMap& labels = node.meta.labels;
    model::Node row;
    row.phase = phase_of(node);
    row.is_foreign = true;  // until its claim shows that Capstan bought it
    // Two schedulers must not share a node, so Capstan binds no pod to a node without the fleet's labels. It cannot
    // allocate devices, either.
    const bool given = labels.contains_all(build.fleet.node_labels) && !by_devices;
    if (!given && row.phase == model::Node::Phase::ready) row.phase = model::Node::Phase::cordoned;
    if (const std::string* pool = labels.find(kube::labels::kNodePool)) row.pool = catalog_.pool(*pool);
    const std::string gpu = gpu_name(labels, node.allocatable, build.fleet);
    row.gpu = catalog_.gpu_kind(gpu.empty() ? described.product : gpu);
    row.gpus = gpus;
    row.domains = catalog_.domains(labels);
    row.offering = offering(labels, row.gpu, gpus);
    row.ready_at = ready_since(node.conditions, node.meta);
    const model::NodeId id = nodes_.id_of(key_of("Node", node.meta), node.meta.name);
    build.node_by_name[node.meta.name] = id;
    build.nodes[id] = row;
    if (row.phase == model::Node::Phase::ready) build.eligibility.add(id, node, row.gpu);
  });
}

/// Reads the offerings of the pools whose instance types the fleet describes. Other pools only keep their positions.
void SnapshotBuilder::read_pools(FullBuild& build) {
  std::set<std::string> zones;
  build.view.nodes.for_each([&](kube::RowId, const kube::Node& node) {
    if (const std::string* zone = node.meta.labels.find(kube::labels::kZone)) zones.insert(*zone);
  });
  std::set<model::PoolId> seen;
  build.view.pools.for_each([&](kube::RowId, const kube::NodePool& pool) {
    const model::PoolId id = catalog_.pool(pool.meta.name);
    seen.insert(id);
    std::vector<model::OfferingId> offerings;
    for (Sale& sale : sales_of(pool, build.fleet.instance_types, zones)) {
      const model::GpuKindId gpu = catalog_.gpu_kind(sale.type->gpu);
      const model::OfferingId offering = catalog_.offering({.instance_type = sale.type->name,
                                                            .gpu = gpu,
                                                            .gpus = sale.type->gpus,
                                                            .zone = zone_of(sale.labels),
                                                            .capacity = capacity_of(sale.capacity),
                                                            .price_per_hour = sale.type->price_per_hour});
      offerings.push_back(offering);
      build.eligibility.add({id, offering}, pool, std::move(sale), gpu);
    }
    catalog_.set_pool(id, std::move(offerings), gpu_limit_of(pool));
  });
  for (std::uint32_t p = 0; p < catalog_.rows().pools.size(); ++p) {
    if (!seen.contains({p})) catalog_.set_pool({p}, {}, 0);
  }
  catalog_.set_limits(build.fleet.limits);
}

/// Returns the zone of a node with these labels, or the domain of the whole cluster if they name no zone.
model::DomainId SnapshotBuilder::zone_of(const kube::StringMap& labels) {
  const model::DomainPath domains = catalog_.domains(labels);
  const model::DomainId zone = domains.of(model::TopologyLevel::zone);
  return zone.valid() ? zone : domains.of(model::TopologyLevel::cluster);
}

/// Returns the offering as which a node or a claim was bought.
model::OfferingId SnapshotBuilder::offering(const kube::StringMap& labels, model::GpuKindId gpu, MilliGpu gpus) {
  return catalog_.offering({.instance_type = std::string(labels.get(kube::labels::kInstanceType)),
                            .gpu = gpu,
                            .gpus = gpus_up(gpus),
                            .zone = zone_of(labels),
                            .capacity = capacity_of(labels.get(kube::labels::kCapacityType)),
                            .price_per_hour = {}});
}

void SnapshotBuilder::read_claims(FullBuild& build) {
  const ClaimTimes times(build.view.claims);
  build.view.claims.for_each([&](kube::RowId, const kube::NodeClaim& claim) {
    const bool known = gpus_of(claim.capacity) > MilliGpu{};
    const kube::Resources& resources = known ? claim.capacity : claim.requests;
    if (gpus_of(resources) == MilliGpu{} || claim.meta.terminating()) return;
    const kube::StringMap labels = labels_of(claim);
    model::Claim row;
    // A registered node has no GPUs until its driver runs, which takes minutes: until then it is on its way.
    row.phase = claim.initialized()                      ? model::Claim::Phase::registered
                : claim.launched() || claim.registered() ? model::Claim::Phase::launched
                                                         : model::Claim::Phase::requested;
    row.pool = catalog_.pool(std::string(labels.get(kube::labels::kNodePool)));
    row.offering = offering(labels, catalog_.gpu_kind(gpu_name(labels, resources, build.fleet)), gpus_of(resources));
    const std::string* group = labels.find(actuate::kClaimGroup);
    if (group != nullptr) read_claim_group(*group, claim, labels, row);
    row.requested_at = instant_of(claim.meta.created_at);
    row.expected_ready_at = times.expected_ready_at(claim);
    const model::ClaimId id = claims_.id_of(key_of("NodeClaim", claim.meta), claim.meta.name);
    if (const auto node = build.node_by_name.find(claim.node); node != build.node_by_name.end()) {
      row.phase = model::Claim::Phase::registered;  // even if its conditions do not say so yet
      row.node = node->second;
      build.nodes.at(node->second).claim = id;
      build.nodes.at(node->second).is_foreign = group == nullptr;
    }
    build.claims[id] = row;
  });
}

/// Reads from a claim of Capstan the launch that created it. Claims of a launch without a hold are not a group.
void SnapshotBuilder::read_claim_group(const std::string& name, const kube::NodeClaim& claim,
                                       const kube::StringMap& labels, model::Claim& row) {
  const actuate::LaunchMarks marks = actuate::launch_marks_of(claim.meta.annotations);
  const model::DomainPath domains = catalog_.domains(labels);
  if (marks.within == "zone") row.within = domains.of(model::TopologyLevel::zone);
  if (marks.within == "cluster") row.within = domains.of(model::TopologyLevel::cluster);
  if (!marks.is_all_or_none) return;
  row.group = groups_.id_of({"ClaimGroup", {}, name, {}}, name);
  row.group_size = marks.count;
}

void SnapshotBuilder::read_services(FullBuild& build) {
  const std::map<model::ServiceId, ServiceOrigin> before = std::exchange(origins_, {});
  for (const InferenceScaler* scaler : by_age(build.view.scalers)) {
    std::size_t position = 0;
    std::map<model::Role, std::vector<model::ServiceId>> by_role;
    for (const TargetOf& target : targets_of(*scaler)) {
      const model::ServiceId id = read_target(build, *scaler, target, position++);
      std::vector<model::ServiceId>& same = by_role[target.role->role];
      if (std::ranges::find(same, id) == same.end()) same.push_back(id);
    }
    for (const auto& [role, variants] : by_role) join_variants(build, variants);
    if (!by_role.contains(model::Role::prefill)) continue;
    const model::ServiceId prefill = by_role.at(model::Role::prefill).front();
    const std::vector<model::ServiceId>& decode = by_role[model::Role::decode];
    for (const model::ServiceId fed : decode) {
      if (prefill != fed) catalog_.set_prefill_service(fed, prefill);
    }
    const bool one_each =
        by_role.at(model::Role::prefill).size() == 1 && decode.size() == 1 && decode.front() != prefill;
    if (one_each) catalog_.set_role_limits(decode.front(), prefill, scaler->role_limits);
  }
  for (const auto& [id, origin] : before) {
    if (origins_.contains(id)) continue;
    catalog_.clear_service(id);
    policies_[id.value] = {};
  }
}

/// Joins the variants of one role, which serve the same requests, so that their replicas are decided together. A
/// variant with another mode, for example because another autoscaler scales it, is decided alone.
void SnapshotBuilder::join_variants(const FullBuild& build, const std::vector<model::ServiceId>& variants) {
  const auto joins = [&](model::ServiceId id) {
    return build.services.contains(id) && origins_.at(id).mode == origins_.at(variants.front()).mode;
  };
  std::vector<model::ServiceId> alternatives;
  for (const model::ServiceId id : variants) {
    if (id == variants.front() || !joins(id) || alternatives.size() == model::Service::kAlternativesMost) continue;
    alternatives.push_back(id);
  }
  catalog_.set_alternatives(variants.front(), std::move(alternatives));
}

model::ServiceId SnapshotBuilder::read_target(FullBuild& build, const InferenceScaler& scaler, const TargetOf& target,
                                              std::size_t position) {
  ServiceOrigin origin{.ns = scaler.meta.ns,
                       .scaler = scaler.meta.name,
                       .scaler_uid = scaler.meta.uid,
                       .target = target.variant->target,
                       .position = position,
                       .mode = std::min(fleet_mode(build.view), scaler.mode)};
  if (!build.rivals.of(origin.ns, origin.target).empty() || !scaler.fault.empty())
    origin.mode = std::min(origin.mode, Mode::shadow);
  const model::ServiceId id =
      services_.id_of({"InferenceScaler", origin.ns, origin.scaler, origin.key()}, target.shown);
  if (origins_.contains(id)) return id;  // the scaler names it twice
  const kube::Workload* workload = build.targets.find(origin.ns, origin.target);
  model::Service service = service_of(scaler, target, workload, catalog_);
  std::vector<PodGroup> replicas;
  if (workload != nullptr) {
    replicas = replicas_of(*workload, build.pods_at_hand.candidates(*workload));
    model::Workload& row = service.workload;
    // If the template is unknown or leaves its GPUs to claims, an existing pod shows them.
    const bool told = gpus_of(workload->pod.requests) > MilliGpu{};
    if (!told && !replicas.empty()) {
      const MilliGpu each = build.holders.of(*replicas.front().pods.front()) * row.pods;
      row.tensor_parallel = static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus_up(each), 1, 1'024));
    }
    row.step_limits = step_limits_of(*workload, replicas);
    row.queue = build.queues.of(workload->pod_labels);
    if (!row.queue.valid() && !replicas.empty()) row.queue = build.queues.of(*replicas.front().pods.front());
    const bool stated = !target.variant->gpu.empty();
    const bool gpu_known = stated || find_gpu_kind(build, *workload, replicas, row);
    origin.gpu_known = read_template(build, *workload, row, stated) || gpu_known;
  }
  catalog_.set_service(id, std::move(service));
  policies_.resize(std::max<std::size_t>(policies_.size(), id.value + 1));
  policies_[id.value] = policy_of(scaler);
  const bool decided = workload != nullptr && origin.mode != Mode::off && build.scaled.insert(workload).second;
  origins_.emplace(id, std::move(origin));
  if (!decided) return id;
  model::ServiceState state{.desired_replicas = workload->replicas, .leaving = 0, .gateway_waiting = {}};
  std::vector<Duration> took;
  for (const PodGroup& group : replicas) {
    if (const std::optional<Duration> start = start_of(group)) took.push_back(*start);
  }
  const StartTimes starts(std::move(took));
  KeptReplicas::Owner owner{id, {}};
  for (PodGroup& group : replicas) {
    const model::GangId gang = add_gang(build, group, id, starts.expected_ready_at(group));
    KeptReplicas::Replica& replica = owner.replicas.emplace_back(KeptReplicas::Replica{std::move(group), gang});
    read_status(replica, true);
    if (replica.drains_first) ++state.leaving;
  }
  build.replicas.add(std::move(owner));
  state.leaving = std::min(state.leaving, state.desired_replicas);
  build.services[id] = state;
  return id;
}

/// Finds the GPU kind of a target that states none: the kind of the nodes of most of its pods, the kind that its
/// template selects, or the only kind of the cluster.
/// @return false if none of these is known; the kind is not changed
bool SnapshotBuilder::find_gpu_kind(const FullBuild& build, const kube::Workload& workload,
                                    const std::vector<PodGroup>& replicas, model::Workload& row) {
  std::map<model::GpuKindId, std::size_t> pods;
  for (const PodGroup& replica : replicas) {
    const auto node = build.node_by_name.find(node_of(*replica.pods.front()));
    if (node != build.node_by_name.end()) ++pods[build.nodes.at(node->second).gpu];
  }
  if (!pods.empty()) {
    row.gpu = std::ranges::max_element(pods, {}, [](const auto& each) { return each.second; })->first;
    return true;
  }
  if (const std::string asked = gpu_name(workload.pod.node_selector, {}, build.fleet); !asked.empty()) {
    row.gpu = catalog_.gpu_kind(asked);
    return true;
  }
  std::set<model::GpuKindId> kinds;
  for (const auto& [id, node] : build.nodes) kinds.insert(node.gpu);
  if (kinds.size() == 1) row.gpu = *kinds.begin();
  return kinds.size() == 1;
}

/// Reads from the template where replicas without pods may be placed.
/// @return true if the template determines the GPU kind
bool SnapshotBuilder::read_template(FullBuild& build, const kube::Workload& workload, model::Workload& row,
                                    bool gpu_stated) {
  row.placed_elsewhere = !places(build.fleet, workload.pod.scheduler);
  if (row.placed_elsewhere) return false;
  catalog_.constrain(constraint_of(workload.meta.annotations), row.together, row.preferred);
  row.pod_class = build.eligibility.class_of(workload.pod);
  const model::GpuKindId gpu = build.eligibility.kind_for(row.pod_class);
  if (!gpu_stated && gpu.valid()) row.gpu = gpu;
  return gpu.valid();
}

}  // namespace capstan::op
