#include "large_cluster/model_cluster.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "model/signal_names.h"

namespace capstan::bench {
namespace {

using model::DomainId;
using model::GangId;
using model::NodeId;
using model::PodId;
using model::TopologyLevel;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::uint32_t kQueues = 20;  // leaf queues, five below each of the four parent queues
constexpr std::uint32_t kQueuesAbove = 4;
constexpr std::int64_t kMicroUsd = 1'000'000;

// The domains are the cluster, the zones, the racks and the blocks, in this order.
DomainId zone_domain(std::uint32_t zone) { return {1 + zone}; }
DomainId rack_domain(std::uint32_t rack) { return {1 + kZones + rack}; }
DomainId block_domain(std::uint32_t block, std::uint32_t nodes) { return {1 + kZones + nodes / kNodesOfARack + block}; }

class ModelCluster {
 public:
  explicit ModelCluster(const Layout& layout) : layout_(layout) {}

  archive::SavedState build() {
    model::Snapshot& snapshot = state_.snapshot;
    snapshot.version = 1;
    snapshot.at = kNow;
    add_classes();
    add_domains();
    add_pools();
    add_queues();
    add_services();
    snapshot.catalog = std::make_shared<const model::Catalog>(std::move(catalog_));
    for (std::uint32_t n = 0; n < layout_.nodes; ++n) add_node(n);
    for (std::uint32_t g = 0; g < layout_.gangs.size(); ++g) add_gang({g}, layout_.gangs[g]);
    state_.policies.name = "large cluster";
    state_.policies.scale.assign(kServices, decide::scale::Policy(decide::scale::Capstan{}));
    state_.policies.place = decide::place::Policy{};
    state_.policies.provision = decide::provision::whole_groups();
    state_.memory.scale.resize(kServices);
    return std::move(state_);
  }

 private:
  /// Adds one pod class for each class of services. Every node has enough CPU, memory and pod
  /// slots for all pods that its GPUs can hold, so these limit no placement.
  void add_classes() {
    model::Eligibility& out = catalog_.eligibility;
    for (std::uint32_t c = 0; c < kClasses; ++c) {
      model::PodClass& pods = out.pod_classes.emplace_back();
      pods.requests = {.cpu_milli = 1'000, .memory_mib = 8'192, .pod_slots = 1};
      for (std::uint32_t n = 0; n < kClasses; ++n) pods.node_classes.push_back(may_run_on(c, n));
      for (std::uint32_t z = 0; z < kZones; ++z) out.purchases[{{c}, {c * kZones + z}}] = {c};
    }
  }

  void add_domains() {
    catalog_.gpu_kinds = {"h100_sxm"};
    catalog_.domains.push_back({"cluster", TopologyLevel::cluster, {}});
    for (std::uint32_t z = 0; z < kZones; ++z) {
      catalog_.domains.push_back({fmt::format("zone-{}", z), TopologyLevel::zone, {0}});
    }
    for (std::uint32_t n = 0; n < layout_.nodes; n += kNodesOfARack) {
      const DomainId zone = zone_domain(zone_of(n, layout_.nodes));
      catalog_.domains.push_back({fmt::format("rack-{}", rack_of(n)), TopologyLevel::rack, zone});
    }
    for (std::uint32_t n = 0; n < layout_.nodes; n += kNodesOfABlock) {
      catalog_.domains.push_back(
          {fmt::format("block-{}", block_of(n)), TopologyLevel::nvlink, rack_domain(rack_of(n))});
    }
    for (model::Topology::LevelInfo& depth : catalog_.topologies.front().levels) {
      depth.is_chosen_at_launch = depth.name == "zone" || depth.name == "cluster";
    }
  }

  /// Adds one pool for each node class. A pool sells one instance type in every zone and may grow by a quarter.
  void add_pools() {
    for (std::uint32_t c = 0; c < kClasses; ++c) {
      model::Pool pool{.name = fmt::format("class-{}", c), .offerings = {}, .limits = {.gpus = layout_.nodes}};
      for (std::uint32_t z = 0; z < kZones; ++z) {
        pool.offerings.push_back({static_cast<std::uint32_t>(catalog_.offerings.size())});
        catalog_.offerings.push_back({fmt::format("gpu8.class-{}", c),
                                      {0},
                                      kGpusOfANode,
                                      zone_domain(z),
                                      model::CapacityType::on_demand,
                                      {(50 + c + z) * kMicroUsd}});
      }
      catalog_.pools.push_back(std::move(pool));
    }
  }

  /// Adds queues whose limits are high enough for all gangs, so that a gang waits only for free GPUs.
  void add_queues() {
    const MilliGpu all = whole_gpus(layout_.nodes) * kGpusOfANode;
    for (std::uint32_t q = 0; q < kQueuesAbove; ++q) {
      catalog_.queues.push_back({.name = fmt::format("department-{}", q), .gpus = {.limit = all}});
    }
    for (std::uint32_t q = 0; q < kQueues; ++q) {
      catalog_.queues.push_back(
          {.name = fmt::format("team-{}", q), .parent = {q % kQueuesAbove}, .gpus = {.limit = all}});
    }
  }

  static model::QueueId queue_of(std::uint32_t service) { return {kQueuesAbove + service % kQueues}; }

  void add_services() {
    std::map<std::uint32_t, ReplicaCount> replicas;
    for (const Gang& gang : layout_.gangs) ++replicas[gang.service];
    for (std::uint32_t s = 0; s < kServices; ++s) {
      const Shape& shape = shape_of(s);
      model::Workload workload;
      workload.name = "h100";
      workload.model = "Llama-3.1-8B";
      workload.gpu = {0};
      workload.pods = static_cast<std::int32_t>(shape.pods);
      workload.gpus_per_replica = static_cast<std::int32_t>(shape.pods * shape.gpus_per_pod.count / 1000);
      workload.required_level = shape.required_level;
      workload.queue = queue_of(s);
      workload.pod_class = {s % kClasses};
      model::Service service;
      service.name = fmt::format("s{}", s);
      service.slo = {.ttft = seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}};
      service.workload = std::move(workload);
      service.max_replicas = 100'000;
      catalog_.services.push_back(std::move(service));
      state_.snapshot.services.set(
          {s}, {.desired_replicas = replicas[s], .leaving = 0, .gateway_waiting = model::Signal::measured(0)});
    }
  }

  void add_node(std::uint32_t n) {
    model::Node node;
    node.pool = {class_of_node(n)};
    node.offering = {class_of_node(n) * kZones + zone_of(n, layout_.nodes)};
    node.gpu = {0};
    node.gpus = whole_gpus(kGpusOfANode);
    node.domains.set(TopologyLevel::nvlink, block_domain(block_of(n), layout_.nodes));
    node.domains.set(TopologyLevel::rack, rack_domain(rack_of(n)));
    node.domains.set(TopologyLevel::zone, zone_domain(zone_of(n, layout_.nodes)));
    node.domains.set(TopologyLevel::cluster, {0});
    node.node_class = {class_of_node(n)};
    // As in a real cluster, each node has a little less or more free CPU than the others.
    node.available = model::Resources{.cpu_milli = 192'000 - n * 7, .memory_mib = 2'048 * 1'024, .pod_slots = 110};
    node.ready_at = Instant{hours(1)};
    state_.snapshot.nodes.set({n}, node);
    state_.names.nodes.set({n}, fmt::format("node-{}", n));
  }

  void add_gang(GangId id, const Gang& from) {
    const Shape& shape = shape_of(from.service);
    const bool is_pending = from.nodes.empty();
    model::Gang gang;
    gang.phase = is_pending ? model::Gang::Phase::pending : model::Gang::Phase::ready;
    gang.service = {from.service};
    gang.ordinal = from.ordinal;
    gang.spec.pods.count = gang.spec.pods.minimum = shape.pods;
    gang.spec.pods.gpu = {0};
    gang.spec.pods.gpus_per_pod = shape.gpus_per_pod;
    gang.spec.required_level = shape.required_level;
    gang.created_at = is_pending ? Instant{hours(23) + std::chrono::milliseconds(id.value)} : Instant{hours(2)};
    if (is_pending) {
      gang.spec.pods.pod_class = {from.service % kClasses};
    } else {
      model::ReplicaSignals signals;
      for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
        signals.*signal.field = model::Signal::measured(id.value % 50, seconds(1));
      }
      state_.snapshot.signals.set(id, signals);
    }
    for (std::uint32_t p = 0; p < shape.pods; ++p) {
      const PodId pod_id{next_pod_++};
      model::Pod pod;
      pod.phase = is_pending ? model::Pod::Phase::pending : model::Pod::Phase::ready;
      pod.gang = id;
      pod.gpus = shape.gpus_per_pod;
      if (!is_pending) pod.node = {from.nodes[p]};
      pod.created_at = gang.created_at;
      pod.queue = queue_of(from.service);
      gang.pods.push_back(pod_id);
      state_.snapshot.pods.set(pod_id, pod);
      state_.names.pods.set(pod_id, fmt::format("ns/s{}-{}-{}", from.service, from.ordinal, p));
    }
    state_.snapshot.gangs.set(id, std::move(gang));
    state_.names.gangs.set(id, fmt::format("ns/s{}-{}", from.service, from.ordinal));
  }

  const Layout& layout_;
  archive::SavedState state_;
  model::Catalog catalog_;
  std::uint32_t next_pod_ = 0;
};

/// Returns the first pending gang of the layout with this shape.
GangId pending_gang(const Layout& layout, std::uint32_t shape) {
  std::uint32_t at = 0;
  while (!layout.gangs[at].nodes.empty() || layout.gangs[at].service / kClasses != shape) ++at;
  return {at};
}

/// Sets a gang with new pods.
void set_gang(Change& change, GangId id, model::Gang gang, std::size_t pods, const model::Pod& pod_row) {
  const auto first = static_cast<std::uint32_t>(change.after.pods.size());
  gang.pods.clear();
  for (std::uint32_t p = 0; p < pods; ++p) {
    model::Pod pod = pod_row;
    pod.gang = id;
    pod.gpus = gang.spec.pods.gpus_per_pod;
    gang.pods.push_back({first + p});
    change.after.pods.set({first + p}, pod);
    change.delta.pods.push_back({first + p});
  }
  change.after.gangs.set(id, std::move(gang));
  change.delta.gangs.push_back(id);
}

}  // namespace

archive::SavedState model_cluster(const Layout& layout) { return ModelCluster(layout).build(); }

Change pod_ends(const model::Snapshot& before, const Layout& layout) {
  Change change{before, {}};
  std::uint32_t at = 0;
  while (layout.gangs[at].nodes.size() != 1) ++at;
  const PodId pod = before.gangs.at({at}).pods.front();
  change.after.pods.erase(pod);
  change.after.gangs.erase({at});
  change.delta.pods = {pod};
  change.delta.gangs = {{at}};
  return change;
}

Change node_appears(const model::Snapshot& before, const Layout& layout) {
  const NodeId id{layout.nodes};
  Change change{before, {}};
  change.after.nodes.set(id, before.nodes.at({0}));
  change.delta.nodes = {id};
  return change;
}

Change gang_appears(const model::Snapshot& before, const Layout& layout) {
  Change change{before, {}};
  model::Gang gang = before.gangs.at(pending_gang(layout, 5));
  const model::Pod pod = before.pods.at(gang.pods.front());
  gang.ordinal = static_cast<std::uint32_t>(layout.gangs.size());
  gang.created_at = kNow;
  const std::size_t pods = gang.pods.size();
  set_gang(change, {static_cast<std::uint32_t>(layout.gangs.size())}, std::move(gang), pods, pod);
  return change;
}

model::Snapshot only_unplaceable_gang(const model::Snapshot& before, const Layout& layout) {
  Change change{before, {}};
  const GangId model_of_gang = pending_gang(layout, 6);
  model::Gang gang = before.gangs.at(model_of_gang);
  const model::Pod pod = before.pods.at(gang.pods.front());
  before.gangs.for_each([&](GangId id, const model::Gang& row) {
    if (row.phase != model::Gang::Phase::pending) return;
    for (const PodId of_gang : row.pods) change.after.pods.erase(of_gang);
    change.after.gangs.erase(id);
  });
  gang.spec.pods.gpus_per_pod = whole_gpus(kGpusOfANode);
  gang.spec.pods.count = gang.spec.pods.minimum = 16;
  set_gang(change, model_of_gang, std::move(gang), 16, pod);
  return std::move(change.after);
}

model::Snapshot with_gangs_of_level(const model::Snapshot& before, model::TopologyLevel level) {
  Change change{before, {}};
  std::vector<std::pair<GangId, model::Pod>> pending;
  before.gangs.for_each([&](GangId id, const model::Gang& row) {
    if (row.phase != model::Gang::Phase::pending) return;
    pending.emplace_back(id, before.pods.at(row.pods.front()));
    for (const PodId of_gang : row.pods) change.after.pods.erase(of_gang);
  });
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const auto& [id, pod] = pending[i];
    const bool is_too_large = i % 10 == 0;
    model::Gang gang = before.gangs.at(id);
    gang.spec.required_level = level;
    gang.spec.pods.gpus_per_pod = whole_gpus(is_too_large ? kGpusOfANode : 1);
    gang.spec.pods.count = gang.spec.pods.minimum = is_too_large ? 48 : 4;
    const auto pods = static_cast<std::size_t>(gang.spec.pods.count);
    set_gang(change, id, std::move(gang), pods, pod);
  }
  return std::move(change.after);
}

PlacementCounts check_placement(const model::Snapshot& snapshot, const Layout& layout,
                                const decide::place::Decision& decision) {
  PlacementCounts result;
  for (const decide::place::PlacementResult& verdict : decision.verdicts) {
    using enum decide::place::PlacementResult::Kind;
    ++(verdict.kind == placed ? result.placed : verdict.kind == cannot_fit_now ? result.cannot_fit : result.other);
  }
  std::map<NodeId, MilliGpu> held;
  snapshot.pods.for_each([&](PodId, const model::Pod& pod) {
    if (pod.node.valid()) held[pod.node] += pod.gpus;
  });
  const auto fail = [&](GangId gang, const char* rule) {
    if (result.broken.empty()) result.broken = fmt::format("gang {} {}", gang.value, rule);
  };
  for (const model::Action& action : decision.plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    if (bind == nullptr) continue;
    const model::Gang& gang = snapshot.gangs.at(bind->gang);
    std::set<PodId> pods;
    std::set<std::uint32_t> domains;
    for (const model::BindPods::Binding& binding : bind->bindings) {
      const model::Node& node = snapshot.nodes.at(binding.node);
      pods.insert(binding.pod);
      domains.insert(gang.spec.required_level == TopologyLevel::node
                         ? binding.node.value
                         : node.domains.domain_at(gang.spec.required_level).value);
      held[binding.node] += snapshot.pods.at(binding.pod).gpus;
      if (held[binding.node] > node.gpus) fail(bind->gang, "puts more on a node than it has");
      if (!may_run_on(gang.service.value % kClasses, class_of_node(binding.node.value % layout.nodes))) {
        fail(bind->gang, "is on a node of another class");
      }
    }
    if (pods != std::set<PodId>(gang.pods.begin(), gang.pods.end())) fail(bind->gang, "is bound in part");
    if (domains.size() != 1) fail(bind->gang, "is in several domains of its level");
    result.bound_pods += pods.size();
  }
  return result;
}

}  // namespace capstan::bench
