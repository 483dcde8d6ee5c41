#include "operator/snapshot/snapshot_builder.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "actuate/node_claim.h"
#include "base/known_row.h"
#include "kube/well_known_labels.h"
#include "model/capacity_names.h"
#include "operator/snapshot/claim_times.h"
#include "operator/snapshot/pass.h"
#include "operator/view/pool_rules.h"
#include "operator/view/purchase_options.h"

namespace capstan::op {
namespace {

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

/// Returns true if the node has a taint that Kubernetes, the cloud provider or Karpenter sets on each new node and
/// takes away a moment after the node is ready. Source: `KnownEphemeralTaints` of sigs.k8s.io/karpenter.
bool has_boot_taint(const kube::Node& node) {
  static constexpr std::array<std::string_view, 4> kBootTaints = {
      "karpenter.sh/unregistered", "node.cloudprovider.kubernetes.io/uninitialized", "node.kubernetes.io/not-ready",
      "node.kubernetes.io/unreachable"};
  return std::ranges::any_of(node.taints, [](const kube::Taint& taint) {
    return std::ranges::find(kBootTaints, taint.key) != kBootTaints.end();
  });
}

/// Returns true if the node of a claim accepts pods, or has accepted pods before. Until Karpenter sets the condition
/// Initialized, a ready node can still wait for the driver that removes its startup taint.
bool has_started(const kube::NodeClaim& claim, const kube::Node& node) {
  if (claim.initialized()) return true;
  return node.ready() && claim.spec.startup_taints.empty() && !has_boot_taint(node);
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

/// Returns the ids of `table` that `rows` lacks: this pass has not built these rows again.
template <typename IdType, typename T, typename Rows>
std::vector<IdType> missing_from(const Rows& rows, const SharedTable<IdType, T>& table) {
  std::vector<IdType> gone;
  table.for_each([&](IdType id, const T&) {
    if (!rows.contains(id)) gone.push_back(id);
  });
  return gone;
}

/// Returns the ids of `old` that `rows` lacks.
template <typename IdType, typename Rows>
std::vector<IdType> missing_from(const Rows& rows, const std::set<IdType>& old) {
  std::vector<IdType> gone;
  std::ranges::copy_if(old, std::back_inserter(gone), [&](IdType id) { return !rows.contains(id); });
  return gone;
}

/// Erases rows of a table, sets others, and does not touch equal rows. Returns the ids that were set or erased,
/// ascending.
template <typename IdType, typename T>
std::vector<IdType> write(SharedTable<IdType, T>& table, std::map<IdType, T> rows, const std::vector<IdType>& gone) {
  std::vector<IdType> changed;
  for (const IdType id : gone) {
    if (table.find(id) == nullptr) continue;
    table.erase(id);
    changed.push_back(id);
  }
  for (auto& [id, row] : rows) {
    const T* old = table.find(id);
    if (old != nullptr && *old == row) continue;
    table.set(id, std::move(row));
    changed.push_back(id);
  }
  std::ranges::sort(changed);
  return changed;
}

}  // namespace

void SnapshotBuilder::expect(const std::vector<const kube::Pod*>& first_pods) {
  for (const kube::Pod* pod : first_pods) gangs_.expect(key_of("Gang", pod->meta));
}

SnapshotBuilder::SnapshotBuilder() = default;
SnapshotBuilder::~SnapshotBuilder() = default;
void SnapshotBuilder::forget_last_pass() { state_.reset(); }

SnapshotBuilder::Output SnapshotBuilder::build(const ClusterView& view, const Readings& readings, Instant at) {
  if (std::optional<Output> seen = follow(view, readings, at)) return *std::move(seen);
  ++complete_passes_;
  return read_all_objects(view, readings, at);
}

SnapshotBuilder::Output SnapshotBuilder::read_all_objects(const ClusterView& view, const Readings& readings,
                                                          Instant at) {
  queue_ids_.release_all();
  state_ = std::make_unique<State>(view, readings, queue_ids_);
  eligibility_.start_over();
  Pass pass{.at = at, .reads_all = true, .touches_rows = true};
  catalog_.add_topologies(state_->fleet->topologies);
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) { state_->mixed_gangs.add(pod, *state_->fleet); });
  state_->mixed_gangs.read_templates(view.leader_worker_sets, *state_->fleet);
  state_->shows_nodes_without_gpus = state_->mixed_gangs.any();
  view.nodes.for_each([&](kube::RowId at, const kube::Node& node) { read_node(pass, at, node); });
  read_pools();
  read_claims(pass);
  const TargetList list = list_targets();
  pass.gone_services = set_origins(list);
  for (const ListedTarget& listed : list.targets) state_->replicas.add(listed.target);
  view.pods.for_each([&](kube::RowId row, const kube::Pod& pod) { set_pod(row, &pod); });
  eligibility_.take_changed_namespaces();  // the pass takes all classes anyway
  settle_targets(pass);
  link_services(list.roles);
  for (const model::ServiceId id : pass.gone_services) catalog_.clear_service(id);
  settle_other_gangs(pass);
  read_other_holders(pass, state_->holders.nodes_with_others());
  clamp_moments(pass);
  catalog_.set_queues(state_->queues.rows());
  finish_eligibility(pass);
  list_serving_pods();
  return publish(pass);
}

void SnapshotBuilder::finish_eligibility(Pass& pass) {
  // A pod that asks for another extended resource adds the amounts of this resource to the instance types.
  if (state_->extended_of_pools != eligibility_.extended_resources().size()) read_pools();
  const bool changed =
      eligibility_.finish(state_->view.nodes, [&](model::NodeId id) -> model::Node& { return node_row(pass, id); });
  if (changed || pass.reads_all) {
    catalog_.set_eligibility(eligibility_.classes(), eligibility_.extended_resources());
  }
}

/// Returns the row of a node, to be changed.
model::Node& SnapshotBuilder::node_row(Pass& pass, model::NodeId id) const {
  const auto found = pass.nodes.find(id);
  return found != pass.nodes.end() ? found->second : pass.nodes.emplace(id, last_.nodes.at(id)).first->second;
}

/// Writes the rows of a pass into the tables of the snapshot.
SnapshotBuilder::Output SnapshotBuilder::publish(Pass& pass) {
  Output seen;
  seen.delta.from_version = last_.version;
  last_.at = pass.at;
  seen.delta.to_version = ++last_.version;
  if (pass.touches_rows) follow_catalog(seen.delta);
  const auto write_all = [](auto& table, auto& rows, const auto& old, bool reads_all) {
    const auto gone = reads_all ? missing_from(rows, table) : missing_from(rows, old);
    return std::pair(write(table, std::move(rows), gone), gone);
  };
  const bool all = pass.reads_all;
  // Silent replicas have no row.
  std::erase_if(pass.signals, [&](const auto& entry) {
    if (entry.second != model::ReplicaSignals{}) return false;
    pass.old_signals.insert(entry.first);
    return true;
  });
  pass.old_signals.insert(pass.old_gangs.begin(), pass.old_gangs.end());
  seen.delta.signals = write_all(last_.signals, pass.signals, pass.old_signals, all).first;
  seen.delta.services = write_all(last_.services, pass.services, pass.old_services, all).first;
  std::vector<model::NodeId> gone_nodes;
  std::tie(seen.delta.nodes, gone_nodes) = write_all(last_.nodes, pass.nodes, pass.old_nodes, all);
  if (pass.reads_claims) {
    seen.delta.claims = write_all(last_.claims, pass.claims, std::set<model::ClaimId>(), true).first;
    claims_.forget_unseen();
    groups_.forget_unseen();
  }
  std::vector<model::GangId> gone_gangs;
  std::vector<model::PodId> gone_pods;
  std::tie(seen.delta.gangs, gone_gangs) = write_all(last_.gangs, pass.gangs, pass.old_gangs, all);
  std::tie(seen.delta.pods, gone_pods) = write_all(last_.pods, pass.pods, pass.old_pods, all);
  for (const model::GangId id : gone_gangs) ordinals_.erase(id);
  seen.snapshot = last_;
  seen.serving = state_->serving;
  if (pass.reads_all) {
    services_.forget_unseen();
    nodes_.forget_unseen();
    gangs_.forget_unseen();
    pods_.forget_unseen();
  } else {
    services_.forget(pass.gone_services);
    nodes_.forget(gone_nodes);
    gangs_.forget(gone_gangs);
    pods_.forget(gone_pods);
  }
  queue_ids_.forget_unused();
  return seen;
}

/// Publishes the catalog if it differs from the last one. Otherwise the snapshot keeps the last one.
void SnapshotBuilder::follow_catalog(model::Delta& delta) {
  static const model::Catalog kNone;
  const bool is_first = last_.catalog == nullptr;
  delta.catalog = model::changes_between(is_first ? kNone : *last_.catalog, catalog_.rows());
  if (is_first || delta.catalog.any()) last_.catalog = catalog_.catalog();
}

/// Replaces the time stamps of nodes and claims that are later than the pass by the time of the pass, so that no age is
/// negative. The clock of another machine can be ahead of ours.
void SnapshotBuilder::clamp_moments(Pass& pass) {
  const auto clamp = [&](Instant& moment) {
    if (moment.is_never()) return;
    state_->has_future_objects = state_->has_future_objects || moment > pass.at;
    moment = std::min(moment, pass.at);
  };
  for (auto& [id, node] : pass.nodes) clamp(node.ready_at);
  for (auto& [id, claim] : pass.claims) clamp(claim.requested_at);
}

void SnapshotBuilder::read_node(Pass& pass, kube::RowId at, const kube::Node& node) {
  if (const std::string* zone = node.meta.labels.find(kube::labels::kZone)) ++state_->zones[*zone];
  State::KnownNode& seen = state_->nodes[node.meta.name];
  seen = {.row = at};
  eligibility_.set_labels(node.meta.name, &node.meta.labels);
  const ClaimedGpus::NodeGpus& described = state_->holders.on_node(node.meta.name);
  const bool by_devices = gpus_of(node.allocatable) == MilliGpu{};  // no device plugin offers its GPUs
  const MilliGpu gpus = by_devices ? whole_gpus(described.gpus) : gpus_of(node.allocatable);
  if (gpus == MilliGpu{}) return read_node_without_gpus(pass, at, node);
  const kube::StringMap& labels = node.meta.labels;
  model::Node row;
  row.phase = phase_of(node);
  row.is_foreign = true;  // until its claim shows that Capstan bought it
  // Capstan binds no pod to a node without the fleet's labels, because two schedulers must not share a node. It binds
  // none to a node whose GPUs are devices of DRA either, because it cannot allocate devices.
  const bool may_bind = labels.contains_all(state_->fleet->node_labels) && !by_devices;
  if (!may_bind && row.phase == model::Node::Phase::ready) row.phase = model::Node::Phase::cordoned;
  if (const std::string* pool = labels.find(kube::labels::kNodePool)) row.pool = catalog_.pool(*pool);
  const std::string gpu = gpu_name(labels, node.allocatable, *state_->fleet);
  row.gpu = catalog_.gpu_kind(gpu.empty() ? described.product : gpu);
  row.gpus = gpus;
  row.domains = catalog_.domains(labels);
  row.offering = offering(labels, row.gpu, gpus);
  row.ready_at = ready_since(node.conditions, node.meta);
  const model::NodeId id = nodes_.id_of(key_of("Node", node.meta), node.meta.name);
  seen.id = id;
  seen.gpu = row.gpu;
  ++state_->node_gpus[row.gpu];
  state_->node_sizes.add(node);
  if (row.phase == model::Node::Phase::ready) eligibility_.add(id, at, node, row.gpu);
  pass.nodes[id] = std::move(row);
}

/// Makes the row of a node without GPUs, if the pods without GPUs of some gang may need it. The row states neither pool
/// nor claim, because Capstan buys and releases only nodes with GPUs. A node whose GPUs are not visible yet, because
/// its driver does not run, has such a row, too, until they are.
void SnapshotBuilder::read_node_without_gpus(Pass& pass, kube::RowId at, const kube::Node& node) {
  if (!state_->shows_nodes_without_gpus || !node.meta.labels.contains_all(state_->fleet->node_labels)) return;
  model::Node row;
  row.phase = phase_of(node);
  row.is_foreign = true;
  row.domains = catalog_.domains(node.meta.labels);
  row.ready_at = ready_since(node.conditions, node.meta);
  const model::NodeId id = nodes_.id_of(key_of("Node", node.meta), node.meta.name);
  known_row(state_->nodes, node.meta.name).id = id;
  if (row.phase == model::Node::Phase::ready) eligibility_.add(id, at, node, {});
  pass.nodes[id] = std::move(row);
}

/// Reads the fleet limits and all pools, with their offerings of the instance types that the fleet describes. A pool
/// that no longer exists only keeps its position.
void SnapshotBuilder::read_pools() {
  std::set<std::string> zones;
  for (const auto& [zone, nodes] : state_->zones) zones.insert(zone);
  eligibility_.forget_purchase_options();
  state_->extended_of_pools = eligibility_.extended_resources().size();
  std::set<model::PoolId> seen;
  state_->view.pools.for_each([&](kube::RowId, const kube::NodePool& pool) {
    const model::PoolId id = catalog_.pool(pool.meta.name);
    seen.insert(id);
    model::Pool row = pool_rules(pool);
    for (PurchaseOption& option : purchase_options(pool, state_->fleet->instance_types, zones)) {
      const model::GpuKindId gpu = catalog_.gpu_kind(option.type->gpu);
      model::InstanceType sold = with_resources(*option.type, state_->node_sizes.largest(*option.type));
      sold.extended = extended_of(*option.type, state_->fleet->instance_types, eligibility_.extended_resources());
      const model::InstanceTypeId type = catalog_.instance_type(sold);
      const model::OfferingId offering = catalog_.offering({.instance_type = option.type->name,
                                                            .gpu = gpu,
                                                            .gpus = option.type->gpus,
                                                            .zone = zone_of(option.labels),
                                                            .capacity = capacity_of(option.capacity),
                                                            .price_per_hour = option.type->price_per_hour,
                                                            .type = type});
      row.offerings.push_back(offering);
      eligibility_.add({id, offering}, pool, std::move(option), gpu);
    }
    catalog_.set_pool(id, std::move(row));
  });
  for (std::uint32_t p = 0; p < catalog_.rows().pools.size(); ++p) {
    if (!seen.contains({p})) catalog_.set_pool({p}, {});
  }
  catalog_.set_limits(state_->fleet->limits);
}

/// Returns the zone of a node with these labels, or the domain of the whole cluster if they name no zone.
model::DomainId SnapshotBuilder::zone_of(const kube::StringMap& labels) {
  const model::DomainPath domains = catalog_.domains(labels);
  const model::DomainId zone = domains.domain_at(model::TopologyLevel::zone);
  return zone.valid() ? zone : domains.domain_at(model::TopologyLevel::cluster);
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

void SnapshotBuilder::read_claims(Pass& pass) {
  pass.reads_claims = true;
  const ClaimTimes times(state_->view.claims);
  state_->view.claims.for_each([&](kube::RowId, const kube::NodeClaim& claim) {
    const bool known = gpus_of(claim.capacity) > MilliGpu{};
    const kube::Resources& resources = known ? claim.capacity : claim.requests;
    if (gpus_of(resources) == MilliGpu{} || claim.meta.terminating()) return;
    const kube::StringMap labels = labels_of(claim);
    model::Claim row;
    row.phase = claim_phase(claim);
    row.pool = catalog_.pool(std::string(labels.get(kube::labels::kNodePool)));
    row.offering = offering(labels, catalog_.gpu_kind(gpu_name(labels, resources, *state_->fleet)), gpus_of(resources));
    const std::string* group = labels.find(actuate::kClaimGroup);
    if (group != nullptr) read_claim_group(*group, claim, labels, row);
    row.requested_at = instant_of(claim.meta.created_at);
    row.expected_ready_at = times.expected_ready_at(claim);
    const model::ClaimId id = claims_.id_of(key_of("NodeClaim", claim.meta), claim.meta.name);
    if (const State::KnownNode* seen = state_->find_gpu_node(claim.node)) {
      row.node = seen->id;
      model::Node& node = node_row(pass, seen->id);
      node.claim = id;
      node.is_foreign = group == nullptr;
      if (!has_started(claim, *state_->view.nodes.rows.at(seen->row))) {
        node.ready_at = Instant::never();
        if (node.phase == model::Node::Phase::ready) node.phase = model::Node::Phase::cordoned;
      }
    }
    pass.claims[id] = row;
  });
}

/// Returns the phase of a claim. The nodes and the claims are watched separately, so a claim can report its node as
/// registered before the node is seen, or later. A claim whose node is not seen with GPUs is on its way, because the
/// driver of the node may not run yet. If the claim is initialized and its node is seen without GPUs, the node has lost
/// them, and the claim counts as registered.
model::Claim::Phase SnapshotBuilder::claim_phase(const kube::NodeClaim& claim) const {
  using Phase = model::Claim::Phase;
  const bool has_lost_gpus = claim.initialized() && state_->nodes.contains(claim.node);
  if (has_lost_gpus || state_->find_gpu_node(claim.node) != nullptr) return Phase::registered;
  return claim.launched() || claim.registered() || claim.initialized() ? Phase::launched : Phase::requested;
}

/// Reads from a claim of Capstan the launch that created it. Claims of a launch without a hold are not a group.
void SnapshotBuilder::read_claim_group(const std::string& name, const kube::NodeClaim& claim,
                                       const kube::StringMap& labels, model::Claim& row) {
  const actuate::LaunchMarks marks = actuate::launch_marks_of(claim.meta.annotations);
  const model::DomainPath domains = catalog_.domains(labels);
  if (marks.domain == "zone") row.domain = domains.domain_at(model::TopologyLevel::zone);
  if (marks.domain == "cluster") row.domain = domains.domain_at(model::TopologyLevel::cluster);
  if (!marks.is_all_or_none) return;
  row.group = groups_.id_of({"ClaimGroup", {}, name, {}}, name);
  row.group_size = marks.count;
}

}  // namespace capstan::op
