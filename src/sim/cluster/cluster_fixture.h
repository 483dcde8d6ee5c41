#pragma once

#include <memory>
#include <set>
#include <vector>

#include "base/known_row.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/topology.h"

// A small cluster with round numbers for the tests of this folder.
namespace capstan::sim::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kGb = 1'000'000'000;
constexpr Instant at_s(std::int64_t s) { return {seconds(s)}; }

/// A serving side without requests: every replica computes half of the time and is drained at once.
class FakeServing final : public ServingHook {
 public:
  bool drains = true;  ///< false: a replica that drains never finishes
  std::map<model::GangId, Instant> serving;
  std::set<model::GangId> draining;
  std::vector<model::GangId> killed_gangs;
  std::vector<Interruption> interruptions;  ///< causes of the killed gangs, one per gang
  RequestCount waiting = 7;

  void ready(const ReplicaStart& replica, Instant at) override { serving[replica.gang] = at; }
  void drain(model::GangId gang, Instant) override { draining.insert(gang); }
  bool drained(model::GangId) override { return drains; }
  void killed(model::GangId gang, Instant, Interruption why) override {
    killed_gangs.push_back(gang);
    interruptions.push_back(why);
    serving.erase(gang);
  }
  EngineReading sample(model::GangId gang, Instant at, bool) override {
    EngineReading reading;
    reading.signals.waiting = model::Signal::measured(waiting);
    reading.signals.running = model::Signal::measured(3);
    reading.signals.kv_usage_ppm = model::Signal::measured(250'000);
    reading.signals.ttft_p99_us = model::Signal::measured(120'000);
    reading.busy_total = (at - known_row(serving, gang)) / 2;
    return reading;
  }
  RequestCount gateway_waiting(model::ServiceId, Instant) override { return waiting; }
};

/// Returns two zones of 2 racks with 2 NVLink domains of one 8-GPU node each. A replica of service 0 has four pods of
/// one GPU on one node. A replica of service 1 has eight pods of two GPUs in one rack. A node costs 36 USD/h and is
/// ready 10 + 30 + 10 s after its request.
inline ClusterConfig small_config() {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->gpu_kinds = {"h100"};
  const std::vector<model::DomainId> zones =
      add_topology(*catalog, {.zones = {"a", "b"}, .racks_per_zone = 2, .nvlink_domains_per_rack = 2});
  for (const model::DomainId zone : zones) {
    catalog->offerings.push_back({"node8", {0}, 8, zone, model::CapacityType::on_demand, {36'000'000}});
  }
  catalog->offerings.push_back({"node8", {0}, 8, zones[0], model::CapacityType::spot, {12'000'000}});
  catalog->pools.push_back({.name = "gpu", .offerings = {{0}, {1}, {2}}, .limits = {.gpus = 64}});
  model::Service service;
  service.name = "chat";
  service.max_replicas = 16;
  service.workload.gpu = {0};
  service.workload.gpus_per_replica = 4;
  service.workload.pods = 4;
  catalog->services.push_back(service);
  service.name = "large";
  service.workload.gpus_per_replica = 16;
  service.workload.pods = 8;
  service.workload.required_level = model::TopologyLevel::rack;
  catalog->services.push_back(service);

  ClusterConfig config;
  config.catalog = catalog;
  config.provider.decision = Latency::exactly(seconds(10));
  config.provider.boot = Latency::exactly(seconds(30));
  config.provider.driver = Latency::exactly(seconds(10));
  config.provider.scatter = false;
  VariantStart start;
  start.service = {0};
  start.image = 1;
  start.image_size = {16 * kGb};
  start.weights = {140 * kGb};
  start.engine_init = Latency::exactly(seconds(50));
  start.engine_init_cached = Latency::exactly(seconds(20));
  start.warm_up = Latency::exactly(seconds(5));
  config.starts.push_back(start);
  start.service = {1};
  config.starts.push_back(start);
  config.bandwidth = {.registry = 1 * kGb,
                      .object_store = 20 * kGb,
                      .node_nic = 2 * kGb,
                      .node_disk = 4 * kGb,
                      .node_host = 20 * kGb,
                      .node_fabric = 20 * kGb};
  config.existing = {{{0}, 2, {0}}};
  return config;
}

/// Returns small_config() with three services: service 1 is a copy of service 0, and service 2 has the large replicas.
/// A conversion takes 3 s.
inline ClusterConfig convertible_config() {
  ClusterConfig config = small_config();
  auto catalog = std::make_shared<model::Catalog>(*config.catalog);
  catalog->services.push_back(catalog->services[1]);
  catalog->services[1] = catalog->services[0];
  config.catalog = catalog;
  config.starts.push_back(config.starts[1]);
  config.starts.back().service = {2};
  config.starts[1] = config.starts[0];
  config.starts[1].service = {1};
  for (VariantStart& start : config.starts) start.conversion = Latency::exactly(seconds(3));
  return config;
}

template <typename What>
model::Action action(const What& what) {
  model::Action made;
  made.effect.emplace<What>(what);
  return made;
}

inline model::Action scale_to(ReplicaCount replicas, model::ServiceId service = {0}) {
  return action(model::SetReplicas{service, replicas, {}});
}

/// Returns the action that binds the first `count` unbound pods of the gang to one node.
inline model::Action bind_to(const model::Snapshot& snapshot, model::GangId gang, model::NodeId node,
                             std::size_t count = 64) {
  model::BindPods bind{gang, {}};
  for (model::PodId pod : snapshot.gangs.at(gang).pods) {
    if (!snapshot.pods.at(pod).node.valid() && bind.bindings.size() < count) bind.bindings.push_back({pod, node});
  }
  return action(bind);
}

/// A cluster that checks itself after every event.
struct Bench {
  FakeServing serving;
  Cluster cluster;

  explicit Bench(ClusterConfig config, std::uint64_t seed = 1) : cluster(std::move(config), seed, serving) {
    run_to({});
  }
  void run_to(Instant to) {
    while (cluster.next_event() <= to) {
      cluster.advance(cluster.next_event());
      cluster.check_invariants();
    }
    cluster.advance(to);
    cluster.check_invariants();
  }
  void run_for(Duration d) { run_to(cluster.now() + d); }
  const model::Snapshot& truth() const { return cluster.truth(); }
  /// Returns the GPU-seconds in a state up to now.
  std::int64_t gpu_s(GpuState state) { return cluster.meter(cluster.now()).gpu_milliseconds(state) / 1000; }
};

}  // namespace capstan::sim::test
