// Measures the requests per second that the simulation of a whole fleet handles: arrivals, clients with time-outs,
// router, replicas and meter. The fleet runs Llama-3.1-8B on one H100 per replica at 70 % of the load that a replica
// sustains (about 17 requests/s of Azure-like traffic), with Poisson arrivals in an open loop. The argument is the
// number of replicas. The counter `useful` is the useful share of paid GPU time, `p99_ms` the 99th percentile of TTFT.

#include <benchmark/benchmark.h>

#include <algorithm>

#include "base/assert.h"
#include "base/random.h"
#include "engine/table.h"
#include "sim/fleet/fleet.h"

namespace capstan::sim {
namespace {

constexpr double kSustained = 17;  // requests/s of one replica
constexpr RequestCount kRequests = 1'000'000;

/// Poisson arrivals with log-normal lengths that have the means of the Azure hour (1155 input and 211 output tokens).
/// They are drawn before the measurement, so that only the fleet is measured.
class RecordedSource final : public workload::Source {
 public:
  explicit RecordedSource(std::int64_t replicas) {
    RandomStream random(1, "bench");
    Instant now{};
    const double rate = 0.7 * kSustained * static_cast<double>(replicas);
    for (std::int64_t i = 0; i < kRequests; ++i) {
      now = now + Duration{static_cast<std::int64_t>(random.exponential() * 1e9 / rate)};
      workload::Request request;
      request.arrival = now;
      request.input_tokens = static_cast<std::int32_t>(std::clamp(random.log_normal(701, 1.0), 1.0, 14'000.0));
      request.output_tokens = static_cast<std::int32_t>(std::clamp(random.log_normal(166, 0.7), 1.0, 1'500.0));
      rows_.push_back(request);
    }
  }
  bool next(workload::Request& request) override {
    if (next_ == rows_.size()) return false;
    request = rows_[next_++];
    return true;
  }
  std::size_t fill(std::span<workload::Request> out) override {
    const std::size_t count = std::min(out.size(), rows_.size() - next_);
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(next_), count, out.begin());
    next_ += count;
    return count;
  }
  void rewind() { next_ = 0; }
  Instant last() const { return rows_.back().arrival; }

 private:
  std::vector<workload::Request> rows_;
  std::size_t next_ = 0;
};

void fleet(benchmark::State& state, RouterKind router) {
  const auto row = engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
  const engine::StepModel model((*row)->coefficients);
  const engine::RequestWork work(model, 8192, 256, 1);
  FleetVariant variant;
  variant.model = &model;
  variant.work = &work;
  variant.replica.kv_blocks = *engine::kv_capacity_blocks(**row);
  const FleetConfig config{.router = {.kind = router},
                           .client = {.first_token_timeout = std::chrono::seconds(30),
                                      .total_timeout = std::chrono::seconds(300),
                                      .max_retries = 2}};
  RecordedSource source(state.range(0));
  double useful = 0;
  double p99_ms = 0;
  for (auto _ : state) {
    source.rewind();
    Fleet fleet(config, {variant}, {}, source);
    for (std::int64_t i = 0; i < state.range(0); ++i) fleet.add_replica(0, Instant{});
    while (!fleet.is_over()) fleet.advance(fleet.now() + std::chrono::minutes(1));
    fleet.finish(fleet.now());
    CAPSTAN_ASSERT(fleet.meter().counts.met == kRequests);
    const double paid_ns = static_cast<double>(source.last().since_start.count()) * static_cast<double>(state.range(0));
    useful = static_cast<double>(fleet.meter().useful_gpu_ns()) / paid_ns;
    p99_ms = static_cast<double>(fleet.meter().ttft.percentile_us(990'000)) / 1000;
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
  state.counters["useful"] = useful;
  state.counters["p99_ms"] = p99_ms;
}

void round_robin(benchmark::State& state) { fleet(state, RouterKind::round_robin); }
void least_loaded(benchmark::State& state) { fleet(state, RouterKind::least_loaded); }

BENCHMARK(round_robin)->Arg(8)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK(least_loaded)->Arg(8)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace capstan::sim
