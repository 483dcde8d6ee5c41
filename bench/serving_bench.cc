// Measures the requests per second that the simulation of one replica handles: Llama-3.1-8B on one H100 with Azure-like
// traffic. Compares Replica (event jumps) with StepwiseReplica. The argument is the arrival rate in requests/s; the
// replica saturates at about 18.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "engine/table.h"
#include "sim/serving/replica.h"
#include "sim/serving/stepwise_replica.h"

namespace capstan::sim {
namespace {

struct Arrival {
  Instant at;
  EngineRequest request;
};

/// Returns Poisson arrivals with log-normal lengths, drawn independently, that have the means of the Azure hour (1155
/// input and 211 output tokens).
std::vector<Arrival> arrivals(std::int64_t count, std::int64_t rate) {
  RandomStream random(1, "bench");
  std::vector<Arrival> rows;
  Instant now{};
  for (std::int64_t i = 0; i < count; ++i) {
    now = now + Duration{static_cast<std::int64_t>(random.exponential() * 1e9 / static_cast<double>(rate))};
    EngineRequest request;
    request.id = static_cast<std::uint32_t>(i);
    request.input_tokens = static_cast<std::int32_t>(std::clamp(random.log_normal(701, 1.0), 1.0, 14'000.0));
    request.output_tokens = static_cast<std::int32_t>(std::clamp(random.log_normal(166, 0.7), 1.0, 1'500.0));
    rows.push_back({now, request});
  }
  return rows;
}

template <typename Engine>
void serve(benchmark::State& state, std::int64_t count) {
  const auto row = engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
  const engine::StepModel model((*row)->coefficients);
  const ReplicaConfig config{.max_waiting = 1'000'000, .kv_blocks = *engine::kv_capacity_blocks(**row)};
  const std::vector<Arrival> rows = arrivals(count, state.range(0));
  Emissions out;
  for (auto _ : state) {
    Engine replica(config, model);
    for (const Arrival& arrival : rows) {
      replica.advance(arrival.at, out);
      benchmark::DoNotOptimize(replica.offer(arrival.request, arrival.at));
      out.clear();
    }
    replica.advance(rows.back().at + Duration{std::int64_t{100'000} * 1'000'000'000}, out);
    benchmark::DoNotOptimize(replica.idle());
  }
  state.SetItemsProcessed(state.iterations() * count);
}

void event_jump(benchmark::State& state) { serve<Replica>(state, 100'000); }
void step_by_step(benchmark::State& state) { serve<StepwiseReplica>(state, 2'000); }

BENCHMARK(event_jump)->Arg(2)->Arg(8)->Arg(14)->Arg(17)->Arg(25)->Unit(benchmark::kMillisecond);
BENCHMARK(step_by_step)->Arg(2)->Arg(8)->Arg(14)->Arg(17)->Arg(25)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace capstan::sim
