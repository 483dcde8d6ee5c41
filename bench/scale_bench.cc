// Measures the cost of deciding the number of replicas for services with ten replicas each, by policy. The argument is
// the number of services. Every replica has new readings. The benchmarks "..._one_changed" decide only one service.

#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <vector>

#include "decide/scale/scale.h"
#include "fleet/index.h"

namespace capstan::decide::scale {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kReplicas = 10;  // replicas per service
constexpr std::size_t kScrapes = 8;      // different scrapes; then they repeat, so the counters start again
constexpr Duration kScrape = seconds(15);

model::ReplicaSignals readings(std::uint32_t gang, std::int64_t scrape) {
  const std::int64_t running = 20 + (gang * 7 + scrape * 3) % 17;
  model::ReplicaSignals s;
  s.waiting = model::Signal::measured((gang + scrape) % 3, seconds(1));
  s.running = model::Signal::measured(running, seconds(1));
  s.kv_usage_ppm = model::Signal::measured(running * 12'000, seconds(1));
  s.ttft_p99_us = model::Signal::measured(300'000, seconds(1));
  s.duty_cycle_percent = model::Signal::measured(90, seconds(1));
  s.prompt_tokens_total = model::Signal::measured(scrape * 15 * running * 160, seconds(1));
  s.generated_tokens_total = model::Signal::measured(scrape * 15 * running * 40, seconds(1));
  return s;
}

/// A fleet at kScrapes consecutive scrapes.
struct Fleet {
  std::array<model::Snapshot, kScrapes> snapshots;
  Index index;
  std::vector<Memory> memories;

  explicit Fleet(std::uint32_t services) : memories(services) {
    auto catalog = std::make_shared<model::Catalog>();
    catalog->gpu_kinds = {"h100_sxm"};
    model::Workload workload;
    workload.model = "Llama-3.1-8B";
    workload.gpu = {0};
    catalog->services.assign(
        services,
        {"chat", {.ttft = seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}}, {workload}, 1, 64, {}});
    model::Snapshot snapshot;
    snapshot.catalog = catalog;
    for (std::uint32_t s = 0; s < services; ++s) {
      snapshot.services.set(
          {s}, {.desired_replicas = kReplicas, .leaving = 0, .gateway_waiting = model::Signal::measured(0)});
      for (std::uint32_t r = 0; r < kReplicas; ++r) add_replica(snapshot, {s}, {s * kReplicas + r});
    }
    for (std::size_t scrape = 0; scrape < kScrapes; ++scrape) {
      for (std::uint32_t gang = 0; gang < services * kReplicas; ++gang) {
        snapshot.signals.set({gang}, readings(gang, static_cast<std::int64_t>(scrape)));
      }
      snapshots[scrape] = snapshot;
    }
    index = fleet::build(snapshots[0]);
  }

 private:
  static void add_replica(model::Snapshot& snapshot, model::ServiceId service, model::GangId id) {
    model::Gang gang;
    gang.phase = model::Gang::Phase::ready;
    gang.service = service;
    gang.spec.pods.gpu = {0};
    gang.spec.pods.count = 1;
    gang.spec.pods.gpus_per_pod = whole_gpus(1);
    gang.pods = {{id.value}};
    model::Pod pod;
    pod.phase = model::Pod::Phase::ready;
    pod.gang = id;
    pod.gpus = whole_gpus(1);
    snapshot.pods.set({id.value}, pod);
    snapshot.gangs.set(id, gang);
  }
};

void decide_services(benchmark::State& state, const Policy& policy, std::uint32_t changed_services) {
  Fleet fleet(static_cast<std::uint32_t>(state.range(0)));
  const std::uint32_t decided_services =
      changed_services == 0 ? static_cast<std::uint32_t>(state.range(0)) : changed_services;
  std::size_t tick = 0;
  for (auto _ : state) {
    const model::Snapshot& snapshot = fleet.snapshots[tick % kScrapes];
    const Instant now{kScrape * static_cast<std::int64_t>(++tick)};
    for (std::uint32_t s = 0; s < decided_services; ++s) {
      benchmark::DoNotOptimize(decide(view(snapshot, fleet.index, {s}), policy, fleet.memories[s], now));
    }
  }
  state.counters["replicas"] = static_cast<double>(decided_services * kReplicas);
}

/// Decides mixes of two variants with ten replicas each: every second service is an alternative of the one before it.
void decide_mixes(benchmark::State& state) {
  const auto mixes = static_cast<std::uint32_t>(state.range(0));
  Fleet fleet(2 * mixes);
  model::Catalog catalog = *fleet.snapshots[0].catalog;
  catalog.gpu_kinds.push_back("a100_sxm");
  std::vector<model::ServiceId> deciders;
  for (std::uint32_t s = 0; s < 2 * mixes; ++s) {
    deciders.push_back({s / 2 * 2});
    catalog.services[s].workload.price_per_hour = {s % 2 == 0 ? 11'060'000 : 5'070'000};
    if (s % 2 == 0) catalog.services[s].alternatives = {{s + 1}};
    if (s % 2 == 1) catalog.services[s].workload.gpu = {1};
  }
  for (model::Snapshot& snapshot : fleet.snapshots) snapshot.catalog = std::make_shared<model::Catalog>(catalog);
  std::size_t tick = 0;
  for (auto _ : state) {
    const model::Snapshot& snapshot = fleet.snapshots[tick % kScrapes];
    const Instant now{kScrape * static_cast<std::int64_t>(++tick)};
    for (std::uint32_t s = 0; s < 2 * mixes; s += 2) {
      const MixSource source{.deciders = deciders, .memories = fleet.memories};
      benchmark::DoNotOptimize(
          decide(view_of_mix(snapshot, fleet.index, {s}, source, now), Capstan{}, fleet.memories[s], now));
    }
  }
  state.counters["replicas"] = static_cast<double>(2 * mixes * kReplicas);
}

void sizes(benchmark::internal::Benchmark* b) { b->Arg(10)->Arg(100)->Arg(1'000)->Unit(benchmark::kMicrosecond); }

BENCHMARK_CAPTURE(decide_services, capstan_all, Capstan{}, 0)->Apply(sizes);
BENCHMARK_CAPTURE(decide_services, rules_all, Rules{}, 0)->Apply(sizes);
BENCHMARK_CAPTURE(decide_services, queue_hpa_all, QueueHpa{}, 0)->Apply(sizes);
BENCHMARK(decide_mixes)->Apply(sizes);
BENCHMARK_CAPTURE(decide_services, capstan_one_changed, Capstan{}, 1)->Apply(sizes);
BENCHMARK_CAPTURE(decide_services, rules_one_changed, Rules{}, 1)->Apply(sizes);
BENCHMARK_CAPTURE(decide_services, queue_hpa_one_changed, QueueHpa{}, 1)->Apply(sizes);

}  // namespace
}  // namespace capstan::decide::scale
