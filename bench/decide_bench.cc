// Measures the cost of a decision after a small change, by the size of the cluster. Ten gangs of four one-GPU pods come
// and go in a cluster of eight-GPU nodes, of which nine in ten are full. The argument is the number of nodes. If the
// cost depends only on the change, it is the same for all arguments.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "fleet/index.h"

namespace capstan::decide {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kPodsOfAGang = 4;
constexpr std::uint32_t kChanges = 10;
constexpr std::uint32_t kNodesOfADomain = 8;
constexpr Instant kNow{seconds(3600)};

/// A cluster before and after ten gangs arrived, and the changes between the two.
struct Cluster {
  model::Snapshot before, after;
  model::Delta delta;

  explicit Cluster(std::uint32_t nodes) {
    auto catalog = std::make_shared<model::Catalog>();
    catalog->gpu_kinds = {"h100"};
    catalog->domains = {{"cluster", model::TopologyLevel::cluster, {}}, {"zone", model::TopologyLevel::zone, {0}}};
    catalog->offerings = {{"eight", {0}, 8, {1}, model::CapacityType::on_demand, {55'000'000}}};
    catalog->pools = {{.name = "h100", .offerings = {{0}}, .limits = {.gpus = 1'000'000}}};
    model::Workload workload;
    workload.gpu = {0};
    workload.gpus_per_replica = workload.pods = kPodsOfAGang;
    catalog->services.push_back({"chat", {}, {workload}, 0, 100'000});
    before.services.set({0}, {.desired_replicas = 0, .gateway_waiting = {}});
    for (std::uint32_t n = 0; n < nodes; ++n) add_node(*catalog, n);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (n % 10 != 0) add_gang(before, {n}), add_gang(before, {n});
    }
    before.catalog = catalog;
    after = before;
    for (std::uint32_t i = 0; i < kChanges; ++i) {
      delta.gangs.push_back({gangs_});
      for (std::uint32_t p = 0; p < kPodsOfAGang; ++p) delta.pods.push_back({pods_ + p});
      add_gang(after, {});
    }
  }

 private:
  void add_node(model::Catalog& catalog, std::uint32_t n) {
    if (n % kNodesOfADomain == 0) {
      const auto rack = static_cast<std::uint32_t>(catalog.domains.size());
      catalog.domains.push_back({"rack", model::TopologyLevel::rack, {1}});
      catalog.domains.push_back({"nvlink", model::TopologyLevel::nvlink, {rack}});
    }
    const auto nvlink = static_cast<std::uint32_t>(catalog.domains.size()) - 1;
    model::Node node;
    node.pool = {0};
    node.offering = {0};
    node.gpu = {0};
    node.gpus = whole_gpus(8);
    node.domains.set(model::TopologyLevel::nvlink, {nvlink});
    node.domains.set(model::TopologyLevel::rack, {nvlink - 1});
    node.domains.set(model::TopologyLevel::zone, {1});
    node.domains.set(model::TopologyLevel::cluster, {0});
    before.nodes.set({n}, node);
  }

  /// Adds a gang that is bound to the node and ready, or pending if the node is invalid.
  void add_gang(model::Snapshot& snapshot, model::NodeId node) {
    model::Gang gang;
    gang.phase = node.valid() ? model::Gang::Phase::ready : model::Gang::Phase::pending;
    gang.service = {0};
    gang.spec.pods.gpu = {0};
    gang.spec.pods.count = kPodsOfAGang;
    gang.spec.pods.gpus_per_pod = whole_gpus(1);
    for (std::uint32_t p = 0; p < kPodsOfAGang; ++p) {
      model::Pod pod;
      pod.phase = node.valid() ? model::Pod::Phase::ready : model::Pod::Phase::pending;
      pod.gang = {gangs_};
      pod.gpus = whole_gpus(1);
      pod.node = node;
      gang.pods.push_back({pods_});
      snapshot.pods.set({pods_++}, pod);
    }
    snapshot.gangs.set({gangs_++}, gang);
  }

  std::uint32_t gangs_ = 0, pods_ = 0;
};

void update_index(benchmark::State& state) {
  const Cluster cluster(static_cast<std::uint32_t>(state.range(0)));
  Index index = fleet::build(cluster.before);
  for (auto _ : state) {
    apply(index, cluster.after, cluster.delta);
    apply(index, cluster.before, cluster.delta);
  }
}

void place_gangs(benchmark::State& state) {
  const Cluster cluster(static_cast<std::uint32_t>(state.range(0)));
  Index index = fleet::build(cluster.after);
  for (auto _ : state) {
    place::Memory memory;
    benchmark::DoNotOptimize(place::decide(index, cluster.after, {}, {}, memory, kNow));
  }
}

/// Measures a decision of provisioning. Consolidation examines the nodes only once every ten seconds.
/// @param consolidation_due  true: consolidation examines the nodes in the measured decision
void provision_nodes(benchmark::State& state, provision::Policy policy, bool consolidation_due) {
  const Cluster cluster(static_cast<std::uint32_t>(state.range(0)));
  Index index = fleet::build(cluster.after);
  place::Memory place_memory;
  const place::Decision placed = place::decide(index, cluster.after, {}, {}, place_memory, kNow);
  policy.batch_idle = {};
  provision::Memory settled;
  provision::decide(index, cluster.after, placed, policy, settled, kNow);
  for (auto _ : state) {
    state.PauseTiming();
    provision::Memory memory = settled;
    memory.last_consolidation = consolidation_due ? Instant::never() : kNow;
    state.ResumeTiming();
    benchmark::DoNotOptimize(provision::decide(index, cluster.after, placed, policy, memory, kNow));
  }
}

void sizes(benchmark::internal::Benchmark* b) { b->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond); }

BENCHMARK(update_index)->Apply(sizes)->Name("index: ten gangs come and go");
BENCHMARK(place_gangs)->Apply(sizes)->Name("place: ten gangs");
BENCHMARK_CAPTURE(provision_nodes, group, provision::whole_groups(), false)->Apply(sizes);
BENCHMARK_CAPTURE(provision_nodes, group_looks_at_nodes, provision::whole_groups(), true)->Apply(sizes);
BENCHMARK_CAPTURE(provision_nodes, karpenter, provision::karpenter(), false)->Apply(sizes);
BENCHMARK_CAPTURE(provision_nodes, karpenter_looks_at_nodes, provision::karpenter(), true)->Apply(sizes);

}  // namespace
}  // namespace capstan::decide
