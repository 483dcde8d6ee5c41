#include "model/consistency.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <utility>

namespace capstan::model {
namespace {

DomainPath path(std::initializer_list<std::pair<TopologyLevel, DomainId>> domains) {
  DomainPath path;
  for (const auto& [level, domain] : domains) path.set(level, domain);
  return path;
}

constexpr Instant at(std::int64_t seconds) { return {std::chrono::seconds(seconds)}; }

/// Two zones with one rack each. A node in the first rack has a replica of two pods and a replica of one pod. The
/// snapshot is from second 100.
struct World {
  World() {
    using Level = TopologyLevel;
    catalog.gpu_kinds = {"H100", "A100"};
    catalog.domains = {{"cluster", Level::cluster, {}},
                       {"a", Level::zone, {0}},
                       {"a/r", Level::rack, {1}},
                       {"b", Level::zone, {0}},
                       {"b/r", Level::rack, {3}}};
    catalog.offerings.push_back({"p5", {0}, 8, {1}, CapacityType::on_demand, {}});
    catalog.pools.push_back({.name = "pool", .offerings = {{0}}, .limits = {.gpus = 64}});
    Workload workload;
    workload.gpu = {0};
    for (const Role role : {Role::decode, Role::prefill, Role::decode}) {
      workload.role = role;
      catalog.services.push_back({.name = "s", .slo = {}, .workload = workload});
    }
    snapshot.at = at(100);
    snapshot.services.set({0}, {.desired_replicas = 1, .gateway_waiting = {}});
    node.pool = {0}, node.offering = {0}, node.claim = {0}, node.gpu = {0};
    node.gpus = whole_gpus(8);
    node.domains = path({{TopologyLevel::rack, {2}}, {TopologyLevel::zone, {1}}, {TopologyLevel::cluster, {0}}});
    claim.phase = Claim::Phase::registered;
    claim.pool = {0}, claim.offering = {0}, claim.domain = {1}, claim.group = {0}, claim.node = {0};
    gang.phase = Gang::Phase::ready;
    gang.service = {0};
    gang.spec.pods.gpu = {0};
    gang.spec.pods.count = 2;
    gang.spec.pods.gpus_per_pod = whole_gpus(1);
    gang.pods = {{0}, {1}};
    signals.waiting = Signal::measured(0, std::chrono::seconds(5));
    for (Pod& pod : pods) {
      pod = {.phase = Pod::Phase::ready, .gang = {0}, .gpus = whole_gpus(1), .node = {0}, .created_at = {}};
    }
    other = gang;
    other.ordinal = 1;
    other.pods = {{2}};
    other.spec.pods.count = 1;
    pods[2].gang = {1};
  }

  const Snapshot& whole() {
    snapshot.catalog = std::make_shared<const Catalog>(catalog);
    snapshot.nodes.set({0}, node);
    snapshot.claims.set({0}, claim);
    snapshot.gangs.set({0}, gang);
    snapshot.gangs.set({1}, other);
    snapshot.signals.set({0}, signals);
    for (std::uint32_t i = 0; i < 3; ++i) snapshot.pods.set({i}, pods[i]);
    return snapshot;
  }

  Catalog catalog;
  Snapshot snapshot;
  Node node;
  Claim claim;
  Gang gang, other;
  ReplicaSignals signals;
  Pod pods[3];
};

/// Adds the topology "fabric" with the levels spine (6) and leaf (5). Domain 5 is a spine in the zone with id 1, and
/// domain 6 is a leaf of this spine.
void add_fabric(Catalog& catalog) {
  catalog.topologies.push_back({.name = "fabric", .levels = {{.name = "spine"}, {.name = "leaf"}}});
  catalog.domains.push_back({"s", Level(6), {1}});
  catalog.domains.push_back({"l", Level(5), {5}});
}

struct Contradiction {
  std::function<void(World&)> make;
  const char* table;
  std::uint32_t id;
  const char* field;
  const char* message;
};

using Phase = Gang::Phase;

const Contradiction kContradictions[] = {
    {[](World& w) { w.catalog.domains[2].level = TopologyLevel::node; }, "catalog.domains", 2, "level",
     "found node, expected nvlink, rack, zone or cluster: a node is its own domain"},
    {[](World& w) { w.catalog.domains[2].level = TopologyLevel::zone; }, "catalog.domains", 2, "parent",
     "found domain 1, a zone, expected one that is wider than a zone"},
    {[](World& w) { w.catalog.domains[1].parent = {}; }, "catalog.domains", 1, "parent",
     "found none, expected a domain that is wider than a zone"},
    {[](World& w) { w.catalog.domains[3] = {"b", TopologyLevel::cluster, {0}}; }, "catalog.domains", 3, "parent",
     "found a parent on the cluster, expected none: the cluster is the widest domain"},
    {[](World& w) {
       w.catalog.topologies.push_back({.name = "fabric", .levels = {{.name = "leaf"}, {.name = "leaf"}}});
     },
     "catalog.topologies", 1, "levels[1].name", "found leaf a second time, expected each level once"},
    {[](World& w) {
       add_fabric(w.catalog);
       w.catalog.domains[6].parent = {2};
     },
     "catalog.domains", 6, "parent", "found domain 2, a rack, expected one that is wider than a leaf"},
    {[](World& w) { w.catalog.services[0].workload.preferred = TopologyLevel::rack; }, "catalog.services", 0,
     "preferred", "found rack, expected node or a narrower level of its topology"},
    {[](World& w) { w.catalog.offerings[0].zone = {2}; }, "catalog.offerings", 0, "zone",
     "found domain 2, a rack, expected a zone or the cluster"},
    {[](World& w) { w.catalog.queues = {{.name = "a"}, {.name = "b", .parent = {2}}, {.name = "c", .parent = {1}}}; },
     "catalog.queues", 1, "parent", "found queue 2, whose parents lead back to this queue, expected a tree"},
    {[](World& w) { w.catalog.services[0].prefill_service = {2}; }, "catalog.services", 0, "fed_by",
     "found service 2, expected a prefill service in this file"},
    {[](World& w) { w.catalog.services[1].prefill_service = {1}; }, "catalog.services", 1, "fed_by",
     "found on another role, expected it on decode services only"},
    {[](World& w) { w.catalog.services[0].alternatives = {{1}}; }, "catalog.services", 0, "beside",
     "found service 1 of role prefill, expected one of the same role, decode"},
    {[](World& w) { w.catalog.services[0].alternatives = {{0}}; }, "catalog.services", 0, "beside",
     "found service 0, expected another service whose own list is empty"},
    {[](World& w) { w.catalog.services[0].alternatives = {{7}}; }, "catalog.services", 0, "beside",
     "found service 7, which is not in this file"},
    {[](World& w) { w.catalog.services[0].alternatives = {{2}, {2}}; }, "catalog.services", 0, "beside",
     "found service 2 a second time, expected each service in one list only"},
    {[](World& w) { w.catalog.services[0].alternatives.assign(8, {2}); }, "catalog.services", 0, "beside",
     "found 8 services, expected at most 7"},
    {[](World& w) { w.catalog.services[1].survives = TopologyLevel::nvlink; }, "catalog.services", 1, "survives",
     "found nvlink, expected node, rack or zone"},
    {[](World& w) { w.snapshot.services.set({3}, {.gateway_waiting = {}}); }, "services", 3, "id",
     "found 3, expected less than 3, the number of services in the catalog"},
    {[](World& w) { w.snapshot.services.set({0}, {.desired_replicas = 1, .leaving = 2, .gateway_waiting = {}}); },
     "services", 0, "leaving", "found 2, expected at most desired_replicas, which is 1"},
    {[](World& w) {
       w.snapshot.services.set({0}, {.gateway_waiting = Signal::measured(1, std::chrono::seconds(101))});
     },
     "services", 0, "gateway_waiting.age_ns", "found 101.0 s, expected 0 s to 100.0 s (at_ns)"},
    {[](World& w) { w.node.gpu = {}; }, "nodes", 0, "gpu", "found none, expected the kind of its GPUs"},
    {[](World& w) { w.node.domains.set(TopologyLevel::rack, {1}); }, "nodes", 0, "domains.rack",
     "found domain 1, a zone, expected a rack"},
    {[](World& w) { w.node.domains.set(TopologyLevel::node, {2}); }, "nodes", 0, "domains.node",
     "found domain 2, a rack, expected a node"},
    {[](World& w) { w.node.domains.set(TopologyLevel::zone, {3}); }, "nodes", 0, "domains.zone",
     "found domain 3, expected domain 1, in which domain 2 lies"},
    {[](World& w) { w.node.domains.set(TopologyLevel::zone, {}); }, "nodes", 0, "domains",
     "lacks \"zone\", expected domain 1, in which domain 2 lies"},
    {[](World& w) {
       w.node.domains = path({{TopologyLevel::rack, {4}}, {TopologyLevel::zone, {3}}, {TopologyLevel::cluster, {0}}});
     },
     "nodes", 0, "domains", "found domain 4, expected one in domain 1, where its offering is sold"},
    {[](World& w) {
       add_fabric(w.catalog);
       w.node.domains.set(Level(5), {6});
     },
     "nodes", 0, "domains", "lacks \"fabric/spine\", expected domain 5, in which domain 6 lies"},
    {[](World& w) {
       add_fabric(w.catalog);
       w.catalog.domains[5].parent = {3};
       w.node.domains.set(Level(6), {5});
     },
     "nodes", 0, "domains.fabric/spine",
     "found domain 5, which lies in domain 3, expected one in a domain of this node"},
    {[](World& w) { w.gang.spec.preferred = TopologyLevel::cluster; }, "gangs", 0, "preferred",
     "found cluster, expected node or a narrower level of its topology"},
    {[](World& w) { w.gang.spec.pods.gpus_per_pod = whole_gpus(2); }, "gangs", 0, "gpus_per_pod_milli",
     "found 2000, expected that of its largest pod, 1000"},
    {[](World& w) { w.pods[1].gpus = whole_gpus(3); }, "gangs", 0, "gpus_per_pod_milli",
     "found 1000, expected that of its largest pod, 3000"},
    {[](World& w) { w.node.gpu = {1}; }, "nodes", 0, "gpu", "found 1, expected the GPU of its offering, 0"},
    {[](World& w) { w.node.ready_at = at(101); }, "nodes", 0, "ready_at_ns",
     "found a time 1.0 s after at_ns, expected at_ns or earlier"},
    {[](World& w) { w.node.claim = {5}; }, "nodes", 0, "claim", "found 5, expected the id of a row in this file"},
    {[](World& w) { w.claim.node = {}; }, "nodes", 0, "claim",
     "found 0, which became no node, expected the claim that became this node"},
    {[](World& w) {
       w.node.claim = {};
       w.claim.node = {5};
     },
     "claims", 0, "node", "found 5, expected the id of a row in this file"},
    {[](World& w) { w.claim.phase = Claim::Phase::failed; }, "claims", 0, "node",
     "found 0 on a claim that is not registered, expected none"},
    {[](World& w) { w.claim.requested_at = at(102); }, "claims", 0, "requested_at_ns",
     "found a time 2.0 s after at_ns, expected at_ns or earlier"},
    {[](World& w) {
       w.claim.group = {};
       w.claim.group_size = 4;
     },
     "claims", 0, "group_size", "found 4 without a group, expected none"},
    {[](World& w) { w.claim.domain = {4}; }, "claims", 0, "within",
     "found domain 4, expected one in domain 1, where its offering is sold"},
    {[](World& w) { w.gang.created_at = Instant::never(); }, "gangs", 0, "created_at_ns",
     "found none, expected at_ns or earlier"},
    {[](World& w) { w.gang.service = {1}; }, "gangs", 0, "service", "found 1, expected the id of a row in this file"},
    {[](World& w) { w.other.ordinal = 0; }, "gangs", 1, "ordinal",
     "found 0, which gang 0 of the same service has, expected another number"},
    {[](World& w) { w.signals.waiting.age = std::chrono::seconds(-1); }, "gangs", 0, "signals.waiting.age_ns",
     "found -1.0 s, expected 0 s to 100.0 s (at_ns)"},
    {[](World& w) { w.gang.pods.push_back({9}); }, "gangs", 0, "pods",
     "found 9, expected the id of a row in this file"},
    {[](World& w) { w.gang.pods.push_back({1}); }, "gangs", 0, "pods",
     "found 1, a pod that is listed twice or belongs to another gang, expected each pod once in its own gang"},
    {[](World& w) { w.other.pods = {{1}}; }, "gangs", 1, "pods",
     "found 1, a pod that is listed twice or belongs to another gang, expected each pod once in its own gang"},
    {[](World& w) { w.pods[1].phase = Pod::Phase::pending; }, "gangs", 0, "phase",
     "found a running phase although a pod is pending, expected pending"},
    {[](World& w) { w.pods[1].phase = Pod::Phase::terminating; }, "gangs", 0, "phase",
     "found a running phase although a pod is terminating, expected draining"},
    {[](World& w) { w.pods[2].phase = Pod::Phase::starting; }, "gangs", 1, "phase",
     "found ready although no pod is ready, expected starting"},
    {[](World& w) { w.gang.spec.pods.gpu = {1}; }, "gangs", 0, "gpu",
     "found 1, which none of its nodes has, expected the GPU kind of a node"},
    {[](World& w) { w.pods[0].created_at = at(103); }, "pods", 0, "created_at_ns",
     "found a time 3.0 s after at_ns, expected at_ns or earlier"},
    {[](World& w) { w.pods[1].node = {6}; }, "pods", 1, "node", "found 6, expected the id of a row in this file"},
    {[](World& w) { w.gang.pods = {{0}}; }, "pods", 1, "gang",
     "found 0, which does not list this pod, expected the gang that does"},
};

TEST(Consistency, EveryContradictionIsFoundWithItsRowAndField) {
  EXPECT_FALSE(find_inconsistency(World().whole()));
  for (const Contradiction& row : kContradictions) {
    World world;
    row.make(world);
    const std::optional<Inconsistency> found = find_inconsistency(world.whole());
    ASSERT_TRUE(found) << row.message;
    EXPECT_EQ(found->table, row.table) << row.message;
    EXPECT_EQ(found->id, row.id) << row.message;
    EXPECT_EQ(found->field, row.field) << row.message;
    EXPECT_EQ(found->message, row.message);
  }
}

struct Allowed {
  const char* why;
  std::function<void(World&)> make;
};

const Allowed kAllowed[] = {
    {"a node that is registered and not ready yet", [](World& w) { w.node.ready_at = Instant::never(); }},
    {"a node without a rack, as in most clouds",
     [](World& w) {
       w.catalog.domains.push_back({"a/n", TopologyLevel::nvlink, {1}});
       w.node.domains = path({{TopologyLevel::nvlink, {5}}, {TopologyLevel::zone, {1}}, {TopologyLevel::cluster, {0}}});
     }},
    {"a node without known domains", [](World& w) { w.node.domains = {}; }},
    {"a claim that is registered before its node is seen",
     [](World& w) {
       w.node.claim = {};
       w.claim.node = {};
     }},
    {"replicas of two services with one number",
     [](World& w) {
       w.snapshot.services.set({1}, {.gateway_waiting = {}});
       w.other.service = {1};
       w.other.ordinal = 0;
     }},
    {"foreign workloads, which have no replica numbers",
     [](World& w) {
       w.gang.service = w.other.service = {};
       w.other.ordinal = 0;
     }},
    {"a worker that is not ready behind a leader that is", [](World& w) { w.pods[1].phase = Pod::Phase::starting; }},
    {"a gang that lost a pod",
     [](World& w) {
       w.gang.phase = Phase::pending;
       w.pods[1].phase = Pod::Phase::pending;
       w.pods[1].node = {};
     }},
};

TEST(Consistency, RealClustersHaveNoContradiction) {
  for (const Allowed& row : kAllowed) {
    World world;
    row.make(world);
    const std::optional<Inconsistency> found = find_inconsistency(world.whole());
    EXPECT_FALSE(found) << row.why << ": " << found->table << "." << found->field << ": " << found->message;
  }
}

}  // namespace
}  // namespace capstan::model
