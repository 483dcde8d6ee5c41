#include "experiment/simulation.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/table.h"
#include "engine/work.h"
#include "sim/cluster/topology.h"

namespace capstan::experiment {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// A small cluster that serves Llama-3.1-8B on H100: nodes of eight GPUs can be bought, one stands.
class Small {
 public:
  explicit Small(std::int32_t pods = 1) {
    const engine::EngineRow* row =
        engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", pods, "bfloat16").value();
    model_ = std::make_unique<engine::StepModel>(row->coefficients);
    work_ = std::make_unique<engine::RequestWork>(*model_, 8192, 256, pods);

    auto catalog = std::make_shared<model::Catalog>();
    catalog->gpu_kinds = {"h100_sxm"};
    const std::vector<model::DomainId> zones = sim::add_topology(*catalog, {});
    catalog->offerings = {{"p5.48xlarge", {0}, 8, zones[0], model::CapacityType::on_demand, {55'040'000}}};
    catalog->pools = {{"h100", {{0}}, 32}};
    model::Variant variant;
    variant.name = variant.model = "Llama-3.1-8B";
    variant.gpu = {0};
    variant.tensor_parallel = pods;
    variant.pods = pods;
    setup.slo = {.ttft = seconds(2), .tpot = std::chrono::milliseconds(50), .e2e = {}};
    catalog->services = {{"chat", setup.slo, {variant}, 1, 12}};

    setup.cluster.catalog = catalog;
    setup.cluster.existing = {{{0}, 1, {0}}};
    setup.cluster.initial = {{{0}, {0}, 2, true}};
    sim::VariantStart start;
    start.service = {0};
    start.variant = {0};
    start.image_size = {10'000'000'000};
    start.weights = row->weights();
    start.engine_init = start.engine_init_cached = sim::Latency::exactly(seconds(20));
    start.warm_up = sim::Latency::exactly(seconds(5));
    setup.cluster.starts = {start};

    sim::FleetVariant fleet;
    fleet.model = model_.get();
    fleet.work = work_.get();
    fleet.replica.kv_blocks = engine::kv_capacity_blocks(*row).value();
    setup.variants = {fleet};

    workload::GeneratorSpec load;
    load.rate.kind = workload::RateCurve::Kind::spike;
    load.rate.rate = 5;
    load.rate.peak = 120;
    load.rate.start = minutes(5);
    load.rate.length = minutes(10);
    load.lengths.input = {.kind = workload::LengthSpec::Kind::log_normal, .tokens = 600, .sigma = 0.8};
    load.lengths.output = {.kind = workload::LengthSpec::Kind::log_normal, .tokens = 200, .sigma = 0.7};
    setup.workload.from = load;
    setup.workload.duration = minutes(40);
    setup.verify = true;

    decide::scale::QueueHpa queue;
    queue.waiting_per_replica = 2;
    queue.running_per_replica = 40;
    setup.policies = {
        .name = "queue · gang · group", .scale = queue, .place = {}, .provision = decide::provision::whole_groups()};
  }

  SimulationSetup setup;

 private:
  std::unique_ptr<engine::StepModel> model_;
  std::unique_ptr<engine::RequestWork> work_;
};

TEST(Simulation, ASpikeBecomesReplicasAndNodesAndGoesAgain) {
  const Small small;
  const RunResult result = simulate(small.setup).value();
  EXPECT_GT(result.requests.arrived, 70'000);
  EXPECT_GT(result.replicas_peak, 2);
  EXPECT_GT(result.cold_starts, 0);
  EXPECT_GT(result.decisions, 0);
  EXPECT_EQ(result.requests.arrived,
            result.requests.completed + result.requests.in_flight + result.requests.queued + result.requests.unmet());
  EXPECT_GT(result.useful_gpu_ns, 0);
  EXPECT_LT(result.useful_gpu_ns, result.paid_gpu_ns());
}

TEST(Simulation, CapstansOwnLayersBreakNoInvariant) {
  const Small small(2);
  const RunResult result = simulate(small.setup).value();
  EXPECT_EQ(result.invariants.partial_gang, 0);
  EXPECT_EQ(result.invariants.work_cut, 0);
  EXPECT_EQ(result.invariants.limit_exceeded, 0);
  EXPECT_EQ(result.invariants.not_repeatable, 0);
  EXPECT_EQ(result.invariants.group_overheld, 0);
  EXPECT_EQ(result.invariants.not_conserved, 0);
}

TEST(Simulation, SameSeedSameHash) {
  const Small small;
  const RunResult first = simulate(small.setup).value();
  EXPECT_EQ(simulate(small.setup).value().state_hash, first.state_hash);
  Small other;
  other.setup.seed = 2;
  EXPECT_NE(simulate(other.setup).value().state_hash, first.state_hash);
}

TEST(Simulation, HoldsUnderRefusalsLossAndUnknownOutcomes) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Small small(2);
    small.setup.seed = seed;
    small.setup.cluster.refused_ppm = 100'000;
    small.setup.cluster.unknown_ppm = 100'000;
    small.setup.cluster.scrape.loss_ppm = 200'000;
    small.setup.cluster.provider.refused_ppm = {200'000};
    const RunResult result = simulate(small.setup).value();
    EXPECT_EQ(result.invariants.not_conserved, 0);
    EXPECT_EQ(result.invariants.not_repeatable, 0);
    EXPECT_EQ(result.invariants.limit_exceeded, 0);
    EXPECT_EQ(result.invariants.group_overheld, 0);
    EXPECT_GT(result.requests.completed, 0);
  }
}

TEST(Simulation, ABadTraceIsAnErrorAndNotAResult) {
  Small small;
  small.setup.workload.from = workload::TraceSpec{"/nonexistent/trace.csv"};
  const auto result = simulate(small.setup);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace capstan::experiment
