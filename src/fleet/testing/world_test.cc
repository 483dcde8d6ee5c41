#include "fleet/testing/world.h"

#include <algorithm>
#include <map>

namespace capstan::fleet::testing {

using model::TopologyLevel;

World::World() {
  model::Catalog& c = *catalog_;
  c.gpu_kinds = {"H100", "A100"};
  const model::DomainId cluster = domain("cluster", TopologyLevel::cluster, {});
  for (int z = 0; z < 2; ++z) {
    zones_.push_back(domain("zone-" + std::to_string(z), TopologyLevel::zone, cluster));
    for (int r = 0; r < 2; ++r) {
      racks_.push_back(domain("rack-" + std::to_string(racks_.size()), TopologyLevel::rack, zones_.back()));
      for (int n = 0; n < 2; ++n) {
        nvlinks_.push_back(domain("nvlink-" + std::to_string(nvlinks_.size()), TopologyLevel::nvlink, racks_.back()));
      }
    }
  }
  model::Workload workload;
  workload.gpu = {0};
  c.services.push_back({.name = "chat", .slo = {}, .workload = workload, .min_replicas = 1, .max_replicas = 10});
  snapshot.catalog = catalog_;
  snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = {}});
}

model::DomainId World::domain(std::string name, TopologyLevel level, model::DomainId parent) {
  catalog_->domains.push_back({std::move(name), level, parent});
  return {static_cast<std::uint32_t>(catalog_->domains.size() - 1)};
}

model::NodeId World::node(std::size_t nvlink_domain, std::int64_t gpus) {
  model::Node node;
  node.gpu = {0};
  node.gpus = whole_gpus(gpus);
  for (model::DomainId d = nvlinks_.at(nvlink_domain); d.valid(); d = catalog_->domain(d).parent) {
    node.domains.set(catalog_->domain(d).level, d);
  }
  const model::NodeId id{next_node++};
  snapshot.nodes.set(id, node);
  return id;
}

model::GangId World::gang(std::int64_t pods, std::int64_t gpus_per_pod, TopologyLevel required_level,
                          std::int64_t at_s) {
  const model::GangId id{next_gang++};
  model::Gang gang;
  gang.service = {0};
  gang.ordinal = id.value;
  gang.spec.pods.gpu = {0};
  gang.spec.pods.count = pods;
  gang.spec.pods.gpus_per_pod = whole_gpus(gpus_per_pod);
  gang.spec.required_level = required_level;
  gang.created_at = at(at_s);
  for (std::int64_t i = 0; i < pods; ++i) {
    const model::PodId pod{next_pod++};
    snapshot.pods.set(pod, {.phase = model::Pod::Phase::pending,
                            .gang = id,
                            .gpus = gang.spec.pods.gpus_per_pod,
                            .node = {},
                            .created_at = gang.created_at});
    gang.pods.push_back(pod);
  }
  snapshot.gangs.set(id, gang);
  return id;
}

model::QueueId World::queue(std::int64_t limit_gpus, model::QueueId parent) {
  const model::QueueId id{static_cast<std::uint32_t>(catalog_->queues.size())};
  catalog_->queues.push_back(
      {.name = "q" + std::to_string(id.value), .parent = parent, .gpus = {.limit = whole_gpus(limit_gpus)}});
  return id;
}

void World::enqueue(model::GangId gang, model::QueueId queue) {
  for (const model::PodId id : snapshot.gangs.at(gang).pods) {
    model::Pod pod = snapshot.pods.at(id);
    pod.queue = queue;
    snapshot.pods.set(id, pod);
  }
  model::Gang row = snapshot.gangs.at(gang);
  row.spec.queue = queue;
  snapshot.gangs.set(gang, std::move(row));
}

void World::bind_pod(model::GangId gang, std::size_t index, model::NodeId node) {
  const model::PodId id = snapshot.gangs.at(gang).pods.at(index);
  model::Pod pod = snapshot.pods.at(id);
  pod.node = node;
  pod.phase = model::Pod::Phase::starting;
  snapshot.pods.set(id, pod);
}

void World::bind(model::GangId gang, model::NodeId node, model::Gang::Phase phase) {
  model::Gang row = snapshot.gangs.at(gang);
  for (std::size_t i = 0; i < row.pods.size(); ++i) {
    bind_pod(gang, i, node);
    if (phase != model::Gang::Phase::ready) continue;
    model::Pod pod = snapshot.pods.at(row.pods[i]);
    pod.phase = model::Pod::Phase::ready;
    snapshot.pods.set(row.pods[i], pod);
  }
  row.phase = phase;
  snapshot.gangs.set(gang, row);
}

model::OfferingId World::offering(std::int64_t gpus, std::size_t zone, std::int64_t usd_per_hour) {
  catalog_->offerings.push_back({.instance_type = "i" + std::to_string(catalog_->offerings.size()),
                                 .gpu = {0},
                                 .gpus = gpus,
                                 .zone = zones_.at(zone),
                                 .capacity = model::CapacityType::on_demand,
                                 .price_per_hour = {usd_per_hour * 1'000'000}});
  return {static_cast<std::uint32_t>(catalog_->offerings.size() - 1)};
}

model::PoolId World::pool(std::vector<model::OfferingId> offerings, GpuCount limit) {
  const std::size_t known = catalog_->pools.size();
  const std::string name = known == 0 ? "pool" : "pool-" + std::to_string(known);
  catalog_->pools.push_back({.name = name, .offerings = std::move(offerings), .limits = {.gpus = limit}});
  return {static_cast<std::uint32_t>(catalog_->pools.size() - 1)};
}

model::ClaimId World::claim(model::PoolId pool, model::OfferingId offering, model::Claim::Phase phase,
                            std::int64_t at_s, model::ClaimGroupId group, model::DomainId domain) {
  const model::ClaimId id{next_claim++};
  model::Claim claim;
  claim.phase = phase;
  claim.pool = pool;
  claim.offering = offering;
  claim.domain = domain;
  claim.group = group;
  claim.requested_at = at(at_s);
  snapshot.claims.set(id, claim);
  return id;
}

model::PodClassId World::pod_class(std::vector<bool> node_classes, model::Resources requests) {
  std::vector<model::PodClass>& classes = catalog_->eligibility.pod_classes;
  classes.push_back({.requests = std::move(requests), .node_classes = std::move(node_classes)});
  return {static_cast<std::uint32_t>(classes.size() - 1)};
}

void World::classify(model::GangId gang, model::PodClassId pod_class) {
  model::Gang row = snapshot.gangs.at(gang);
  row.spec.pods.pod_class = pod_class;
  snapshot.gangs.set(gang, row);
}

void World::classify(model::NodeId node, model::NodeClassId node_class) {
  model::Node row = snapshot.nodes.at(node);
  row.node_class = node_class;
  snapshot.nodes.set(node, row);
}

void World::set_available(model::NodeId node, model::Resources available) {
  model::Node row = snapshot.nodes.at(node);
  row.available = std::move(available);
  snapshot.nodes.set(node, row);
}

World random_world() {
  World world;
  world.catalog().extended_resources = {"example.com/fpga", "nvidia.com/mig-1g.10gb"};
  const model::PodClassId classes[] = {
      {}, world.pod_class({true, false}), world.pod_class({false, true}, {.cpu_milli = 1'000, .extended = {0, 1}})};
  std::map<model::NodeId, std::int64_t> free;
  const int nodes = *rc::gen::inRange(0, 9);
  for (int i = 0; i < nodes; ++i) {
    const std::int64_t gpus = *rc::gen::element<std::int64_t>(1, 4, 8);
    const model::NodeId id = world.node(*rc::gen::inRange<std::size_t>(0, 8), gpus);
    free[id] = gpus;
    model::Node row = world.snapshot.nodes.at(id);
    row.phase = *rc::gen::weightedElement<model::Node::Phase>(
        {{8, model::Node::Phase::ready}, {1, model::Node::Phase::cordoned}, {1, model::Node::Phase::terminating}});
    row.gpu = {*rc::gen::weightedElement<std::uint32_t>({{6, 0U}, {1, 1U}})};
    world.snapshot.nodes.set(id, row);
    world.classify(id, *rc::gen::element(model::NodeClassId{}, model::NodeClassId{0}, model::NodeClassId{1}));
    const std::int64_t units = *rc::gen::inRange<std::int64_t>(0, 6);
    if (units > 0) world.set_available(id, {.cpu_milli = units * 700, .extended = {9, units - 1}});
  }
  const model::QueueId all = world.queue(*rc::gen::inRange<std::int64_t>(0, 40));
  const model::QueueId part = world.queue(*rc::gen::inRange<std::int64_t>(0, 20), all);
  const int gangs = *rc::gen::inRange(0, 9);
  for (int i = 0; i < gangs; ++i) {
    const std::int64_t per_pod = *rc::gen::element<std::int64_t>(1, 2, 4);
    const std::int64_t pods = *rc::gen::inRange<std::int64_t>(1, 7);
    const auto level = static_cast<TopologyLevel>(*rc::gen::inRange(0, 5));
    const model::GangId gang = world.gang(pods, per_pod, level, *rc::gen::inRange(0, 100));
    world.classify(gang, *rc::gen::element(classes[0], classes[1], classes[2]));
    world.enqueue(gang, *rc::gen::element(model::QueueId{}, all, part));
    model::Gang row = world.snapshot.gangs.at(gang);
    row.spec.priority = *rc::gen::element(0, 0, 7, -7);
    if (pods > 1 && *rc::gen::inRange(0, 3) == 0) {  // the first pod is a leader with fewer GPUs or none
      --row.spec.pods.count;
      row.spec.other_pods = {{.gpu = {0},
                              .count = 1,
                              .gpus_per_pod = whole_gpus(*rc::gen::element<std::int64_t>(0, per_pod / 2)),
                              .pod_class = *rc::gen::element(classes[0], classes[1], classes[2])}};
      model::Pod leader = world.snapshot.pods.at(row.pods.front());
      leader.set = 1;
      leader.gpus = row.spec.other_pods[0].gpus_per_pod;
      world.snapshot.pods.set(row.pods.front(), leader);
    }
    model::Pod mixed = world.snapshot.pods.at(row.pods.front());
    mixed.queue = row.spec.queue = *rc::gen::element(model::QueueId{}, all, part);
    world.snapshot.pods.set(row.pods.front(), mixed);
    world.snapshot.gangs.set(gang, row);
    if (nodes == 0 || *rc::gen::inRange(0, 2) == 0) continue;
    const model::NodeId node{*rc::gen::inRange<std::uint32_t>(0, world.next_node)};
    if (free[node] < pods * per_pod || world.snapshot.nodes.at(node).gpu.value != 0) continue;
    free[node] -= pods * per_pod;
    world.bind(
        gang, node,
        *rc::gen::element(model::Gang::Phase::starting, model::Gang::Phase::ready, model::Gang::Phase::draining));
  }
  return world;
}

namespace {

/// Changes prices, limits, queues and the requests of pods at random.
model::CatalogChange disturb_catalog(World& world) {
  const std::int64_t price = *rc::gen::inRange<std::int64_t>(1, 4), limit = *rc::gen::inRange<std::int64_t>(0, 80);
  const int what = *rc::gen::inRange(0, 6);
  return world.edit_catalog([&](model::Catalog& catalog) {
    if (what == 0) {
      for (model::Offering& offering : catalog.offerings) offering.price_per_hour = {price * 1'000'000};
    }
    if (what == 1) {
      for (model::Pool& pool : catalog.pools) pool.limits.gpus = limit;
    }
    if (what == 2) catalog.queues.back().gpus.limit = whole_gpus(limit);
    std::vector<model::PodClass>& classes = catalog.eligibility.pod_classes;
    if (what == 3) classes.back().requests.cpu_milli = price * 700;
    if (what == 4) classes.front().node_classes.assign(2, price > 2);
  });
}

}  // namespace

model::Delta change_at_random(World& world) {
  model::Delta delta;
  delta.catalog = disturb_catalog(world);
  model::Snapshot& s = world.snapshot;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) {
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        delta.nodes.push_back(world.node(*rc::gen::inRange<std::size_t>(0, 8)));
        break;
      case 1: {
        const model::NodeId id{*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)};
        s.nodes.erase(id);
        delta.nodes.push_back(id);
        break;
      }
      case 2: {
        const model::GangId id = world.gang(*rc::gen::inRange(1, 4), 1, TopologyLevel::rack, *rc::gen::inRange(0, 50));
        delta.gangs.push_back(id);
        for (model::PodId pod : s.gangs.at(id).pods) delta.pods.push_back(pod);
        break;
      }
      case 3: {
        const model::GangId id{*rc::gen::inRange<std::uint32_t>(0, world.next_gang + 1)};
        if (const model::Gang* row = s.gangs.find(id)) {
          for (model::PodId pod : std::vector<model::PodId>(row->pods)) {
            s.pods.erase(pod);
            delta.pods.push_back(pod);
          }
        }
        s.gangs.erase(id);
        delta.gangs.push_back(id);
        break;
      }
      case 4: {
        const model::PodId id{*rc::gen::inRange<std::uint32_t>(0, world.next_pod + 1)};
        if (const model::Pod* row = s.pods.find(id)) {
          model::Pod pod = *row;
          pod.node = {*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)};
          pod.phase = static_cast<model::Pod::Phase>(*rc::gen::inRange(0, 4));
          s.pods.set(id, pod);
        }
        delta.pods.push_back(id);
        break;
      }
      case 5: {
        const model::NodeId id{*rc::gen::inRange<std::uint32_t>(0, world.next_node + 1)};
        if (const model::Node* row = s.nodes.find(id)) {
          model::Node node = *row;
          node.phase = *rc::gen::element(model::Node::Phase::ready, model::Node::Phase::cordoned);
          node.gpus = whole_gpus(*rc::gen::element<std::int64_t>(1, 4, 8));
          s.nodes.set(id, node);
        }
        delta.nodes.push_back(id);
        break;
      }
      default: {
        const model::GangId id{*rc::gen::inRange<std::uint32_t>(0, world.next_gang + 1)};
        if (const model::Gang* row = s.gangs.find(id)) {
          model::Gang gang = *row;
          gang.phase = static_cast<model::Gang::Phase>(*rc::gen::inRange(0, 4));
          s.gangs.set(id, gang);
        }
        delta.gangs.push_back(id);
      }
    }
  }
  return delta;
}

}  // namespace capstan::fleet::testing
