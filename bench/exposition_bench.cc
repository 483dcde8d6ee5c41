// Measures how fast pages of metrics are read, with labels, and converted to signals.
//   exposition_bench --write-page FILE     writes the page for bench/prometheus_parser and exits
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <string>

#include "exposition_page.h"
#include "signals/exposition.h"
#include "signals/target_reader.h"

namespace capstan::signals {
namespace {

template <typename Reader>
void read(benchmark::State& state) {
  const std::string page = bench::vllm_page();
  for (auto _ : state) {
    Reader reader(page, Exposition::text, "page");
    double sum = 0;
    std::size_t labels = 0;
    while (reader.next_sample() == Reader::Entry::sample) {
      sum += reader.sample().value;
      labels += reader.sample().labels.size();
    }
    benchmark::DoNotOptimize(sum);
    benchmark::DoNotOptimize(labels);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * page.size()));
}

void with_labels(benchmark::State& state) { read<ExpositionReader>(state); }
void with_labels_portable(benchmark::State& state) { read<BasicExpositionReader<PortableScan>>(state); }

void into_signals(benchmark::State& state) {
  const std::string page = bench::vllm_page();
  TargetReader reader{TargetOptions{}};
  Instant now;
  for (auto _ : state) {
    now = now + std::chrono::seconds(1);
    reader.read(page, Exposition::text, "page", {now, 0});
    benchmark::DoNotOptimize(reader.readings(now));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * page.size()));
}

BENCHMARK(with_labels);
BENCHMARK(with_labels_portable);
BENCHMARK(into_signals);

}  // namespace
}  // namespace capstan::signals

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--write-page") == 0) {
    std::ofstream(argv[2]) << capstan::bench::vllm_page();
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
