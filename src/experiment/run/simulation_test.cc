#include "experiment/run/simulation.h"

#include <gtest/gtest.h>

#include <memory>

#include "engine/table.h"
#include "engine/work.h"
#include "sim/cluster/topology.h"

namespace capstan::experiment {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// A small cluster that serves Llama-3.1-8B on H100. One node of eight GPUs exists, and more can be bought.
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
    catalog->pools = {{.name = "h100", .offerings = {{0}}, .limits = {.gpus = 32}}};
    model::Workload workload;
    workload.name = workload.model = "Llama-3.1-8B";
    workload.gpu = {0};
    workload.gpus_per_replica = pods;
    workload.pods = pods;
    EndpointSetup& endpoint = setup.endpoints.emplace_back();
    endpoint.slo = {.ttft = seconds(2), .tpot = std::chrono::milliseconds(50), .e2e = {}};
    catalog->services = {{"chat", endpoint.slo, {workload}, 1, 12}};

    setup.cluster.catalog = catalog;
    setup.cluster.existing = {{{0}, 1, {0}}};
    setup.cluster.initial = {{{0}, 2, true}};
    sim::VariantStart start;
    start.service = {0};
    start.image_size = {10'000'000'000};
    start.weights = row->weights();
    start.engine_init = start.engine_init_cached = sim::Latency::exactly(seconds(20));
    start.warm_up = sim::Latency::exactly(seconds(5));
    setup.cluster.starts = {start};

    sim::FleetVariant fleet;
    fleet.model = model_.get();
    fleet.work = work_.get();
    fleet.replica.kv_blocks = engine::kv_capacity_blocks(*row).value();
    endpoint.variants = {fleet};

    rate(5, 120, minutes(5), minutes(10), minutes(40));
    setup.verify = true;

    decide::scale::QueueHpa queue;
    queue.waiting_per_replica = 2;
    queue.running_per_replica = 40;
    setup.policies = {.name = "queue · gang · group",
                      .scale = {queue},
                      .place = decide::place::Policy(),
                      .provision = decide::provision::whole_groups()};
  }

  /// Sets a load in requests per second, with a spike of some minutes.
  void rate(double usual, double peak, minutes start, minutes length, minutes duration) {
    workload::GeneratorSpec load;
    load.rate.kind = workload::RateCurve::Kind::spike;
    load.rate.rate = usual;
    load.rate.peak = peak;
    load.rate.start = start;
    load.rate.length = length;
    load.lengths.input = {.kind = workload::LengthSpec::Kind::log_normal, .tokens = 600, .sigma = 0.8};
    load.lengths.output = {.kind = workload::LengthSpec::Kind::log_normal, .tokens = 200, .sigma = 0.7};
    setup.endpoints.front().workload.from = load;
    setup.endpoints.front().workload.duration = duration;
  }

  SimulationSetup setup;

 private:
  std::unique_ptr<engine::StepModel> model_;
  std::unique_ptr<engine::RequestWork> work_;
};

TEST(Simulation, ASpikeStartsReplicasAndAllRequestsAreAccountedFor) {
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

/// Runs without requests after the first quarter of an hour and without faults, so that load and world do not change
/// for nearly four hours. A script scales the service.
RunResult four_calm_hours(const Script& script) {
  Small small;
  small.rate(1, 1, minutes(1), minutes(1), minutes(15));
  small.setup.duration = minutes(240);
  small.setup.script = script;
  return simulate(small.setup).value();
}

TEST(Simulation, AFleetThatSettlesIsNotCounted) {
  EXPECT_EQ(four_calm_hours([](Instant) { return 3; }).invariants.unsettled, 0);
  EXPECT_EQ(four_calm_hours([](Instant at) { return at < Instant{minutes(40)} ? 3 : 1; }).invariants.unsettled, 0);
}

TEST(Simulation, AFleetThatNeverSettlesIsCounted) {
  const auto swings = [](Instant at) { return at.since_start / minutes(10) % 2 == 0 ? 2 : 3; };
  EXPECT_GE(four_calm_hours(swings).invariants.unsettled, 4);
}

TEST(Simulation, AGoalThatIsNeverReachedIsCounted) {
  Small small;
  small.rate(1, 1, minutes(1), minutes(1), minutes(15));
  small.setup.duration = minutes(240);
  small.setup.script = [](Instant) { return 3; };
  sim::VariantStart& start = small.setup.cluster.starts.front();
  start.engine_init = start.engine_init_cached = sim::Latency::exactly(minutes(300));  // the third replica never serves
  EXPECT_EQ(simulate(small.setup).value().invariants.unsettled, 1);
}

TEST(Simulation, EndsAtTheDecisionThatMeetsTheStopCondition) {
  Small small;
  Instant seen = Instant::never();
  small.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory&,
                                   const control::DueDecisions&) { seen = snapshot.at; };
  small.setup.should_end = [&] { return !seen.is_never() && seen >= Instant{minutes(7)}; };
  const RunResult result = simulate(small.setup).value();
  EXPECT_GE(result.simulated, minutes(7));
  EXPECT_LT(result.simulated, minutes(8));
  EXPECT_EQ(seen.since_start, result.simulated);
  EXPECT_EQ(result.requests.arrived,
            result.requests.completed + result.requests.in_flight + result.requests.queued + result.requests.unmet());
}

TEST(Simulation, FiguresByMinuteAddUpToTheTotals) {
  for (const int length_s : {30, 60, 90, 600, 754}) {
    SCOPED_TRACE(length_s);
    Small small;
    small.rate(5, 60, minutes(2), minutes(4), minutes(40));
    small.setup.duration = seconds(length_s);
    const RunResult result = simulate(small.setup).value();
    RequestCount arrived = 0, met = 0;
    for (const Minute& minute : result.minutes) arrived += minute.arrived, met += minute.met;
    EXPECT_EQ(arrived, result.requests.arrived);
    EXPECT_EQ(met, result.requests.met);
    EXPECT_EQ(result.minutes.size(), static_cast<std::size_t>((length_s + 59) / 60));
  }
}

TEST(Simulation, ABootingNodeIsPaidFor) {
  Small small;
  small.rate(120, 120, minutes(1), minutes(1), minutes(40));
  small.setup.duration = minutes(8);
  small.setup.cluster.provider.boot = sim::Latency::exactly(minutes(20));  // beyond the end
  const RunResult result = simulate(small.setup).value();
  EXPECT_GT(result.gpu_ns[static_cast<std::size_t>(sim::GpuState::launching)], 0);
  EXPECT_EQ(result.minutes.front().gpus_paid, 8);
  EXPECT_GT(result.minutes.back().gpus_paid, 8);
}

TEST(Simulation, CapstansOwnLayersBreakNoInvariant) {
  const Small small(2);
  const RunResult result = simulate(small.setup).value();
  EXPECT_EQ(result.invariants.partial_gang, 0);
  EXPECT_EQ(result.invariants.work_cut, 0);
  EXPECT_EQ(result.invariants.limit_exceeded, 0);
  EXPECT_EQ(result.invariants.not_repeatable, 0);
  EXPECT_EQ(result.invariants.expired_group_holds, 0);
  EXPECT_EQ(result.invariants.unobservable_values, 0);
  EXPECT_EQ(result.invariants.not_conserved, 0);
}

TEST(Simulation, OnlyEqualSeedsGiveEqualHashes) {
  const Small small;
  const RunResult first = simulate(small.setup).value();
  EXPECT_EQ(simulate(small.setup).value().state_hash, first.state_hash);
  Small other;
  other.setup.seed = 2;
  EXPECT_NE(simulate(other.setup).value().state_hash, first.state_hash);
}

TEST(Simulation, InvariantsHoldUnderRefusalsLossAndUnknownOutcomes) {
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
    EXPECT_EQ(result.invariants.unobservable_values, 0);
    EXPECT_EQ(result.invariants.not_repeatable, 0);
    EXPECT_EQ(result.invariants.limit_exceeded, 0);
    EXPECT_EQ(result.invariants.expired_group_holds, 0);
    EXPECT_GT(result.requests.completed, 0);
  }
}

TEST(Simulation, RequestsCutByASpotInterruptionAreForced) {
  Small small(2);
  auto catalog = std::make_shared<model::Catalog>(*small.setup.cluster.catalog);
  catalog->offerings[0].capacity = model::CapacityType::spot;
  small.setup.cluster.catalog = catalog;
  small.setup.cluster.provider.spot_interruptions_per_million_hours = 4'000'000;
  const RunResult result = simulate(small.setup).value();
  EXPECT_GT(result.disruptions.spot, 0);
  EXPECT_GT(result.disruptions.requests_cut, 0);
  EXPECT_EQ(result.disruptions.requests_cut_forced, result.disruptions.requests_cut);
  EXPECT_EQ(result.invariants.work_cut, 0);
  EXPECT_GT(result.tokens.cut, 0);
  EXPECT_EQ(result.invariants.not_conserved, 0);
}

TEST(Simulation, RequestsCutAfterTheGracePeriodCountAsCutByADecision) {
  Small small;
  small.setup.cluster.termination_grace = std::chrono::milliseconds(100);
  const RunResult result = simulate(small.setup).value();
  EXPECT_GT(result.disruptions.scale_down, 0);
  EXPECT_GT(result.invariants.work_cut, 0);
  EXPECT_EQ(result.disruptions.requests_cut_forced, 0);
  EXPECT_EQ(result.invariants.work_cut, result.disruptions.requests_cut);
}

struct Broken {
  const char* teaches;
  void (*change)(RunResult&);
  std::int64_t open;
};
const Broken kBroken[] = {
    {"a run as it is closes all four", [](RunResult&) {}, 0},
    {"a request that is nowhere", [](RunResult& r) { ++r.requests.arrived; }, 1},
    {"a request that ended twice", [](RunResult& r) { ++r.requests.timed_out; }, 1},
    {"more met than completed", [](RunResult& r) { r.requests.met = r.requests.completed + 1; }, 1},
    {"a token that no replica generated", [](RunResult& r) { ++r.tokens.delivered; }, 1},
    {"a token without an end", [](RunResult& r) { ++r.tokens.generated; }, 1},
    {"more tokens cached than prompted", [](RunResult& r) { r.cached_tokens = r.prompt_tokens + 1; }, 1},
    {"GPU time that no node was paid for", [](RunResult& r) { ++r.gpu_ns[0]; }, 1},
    {"a paid GPU without a state", [](RunResult& r) { ++r.node_gpu_ns; }, 1},
    {"more useful work than was paid", [](RunResult& r) { r.useful_gpu_ns = r.node_gpu_ns + 1; }, 1},
    {"money that bought nothing", [](RunResult& r) { ++r.node_micro_usd; }, 1},
    {"a cost that is counted twice", [](RunResult& r) { ++r.cost_micro_usd[3]; }, 1},
    {"money that no pool spent", [](RunResult& r) { --r.spending.front().micro_usd; }, 1},
    {"GPU time that wrapped around",
     [](RunResult& r) {
       r.node_gpu_ns -= 2 * r.gpu_ns[0] + 1;
       r.gpu_ns[0] = -r.gpu_ns[0] - 1;
       r.useful_gpu_ns = r.node_gpu_ns;
     },
     1},
};

TEST(Balances, EachBrokenBalanceIsDetected) {
  Small small;
  small.setup.endpoints.front().workload.duration = minutes(8);
  const RunResult whole = simulate(small.setup).value();
  EXPECT_GT(whole.tokens.generated, 0);
  EXPECT_GT(whole.node_micro_usd, 0);
  for (const Broken& row : kBroken) {
    SCOPED_TRACE(row.teaches);
    RunResult result = whole;
    row.change(result);
    EXPECT_EQ(open_balances(result), row.open);
  }
}

/// Invariant 5 for every policy of every layer. With `verify` the loop decides twice, the second time from memory that
/// was saved as text and read back. Both plans and both memories must be equal.
TEST(Simulation, EveryPolicyDecidesTheSameFromItsSavedMemory) {
  using namespace decide;
  scale::QueueHpa behaved;
  behaved.hpa.behavior.emplace();
  const scale::Policy scales[] = {scale::Fixed{.replicas = 4}, scale::DutyCycleHpa{}, scale::QueueHpa{},
                                  scale::MemoryHpa{}, behaved};
  const place::Policy::Kind places[] = {place::Policy::Kind::first_fit, place::Policy::Kind::gang};
  const provision::Policy provisions[] = {provision::cluster_autoscaler(), provision::karpenter(),
                                          provision::whole_groups()};
  for (const scale::Policy& scale : scales) {
    for (const place::Policy::Kind place : places) {
      for (const provision::Policy& provision : provisions) {
        SCOPED_TRACE(std::to_string(scale.index()) + " " + std::string(place::name(place)) + " " +
                     std::to_string(static_cast<int>(provision.kind)));
        Small small(2);
        small.rate(2, 40, minutes(3), minutes(3), minutes(12));
        small.setup.cluster.refused_ppm = small.setup.cluster.unknown_ppm = 50'000;
        small.setup.cluster.provider.refused_ppm = {200'000};
        small.setup.policies.scale = {scale};
        small.setup.policies.place->kind = place;
        small.setup.policies.provision = provision;
        const RunResult result = simulate(small.setup).value();
        EXPECT_EQ(result.invariants.not_repeatable, 0);
        EXPECT_EQ(result.invariants.unobservable_values, 0);
        EXPECT_EQ(result.invariants.not_conserved, 0);
      }
    }
  }
}

TEST(Simulation, ABadTraceIsAnErrorAndNotAResult) {
  Small small;
  small.setup.endpoints.front().workload.from = workload::TraceSpec{"/nonexistent/trace.csv"};
  const auto result = simulate(small.setup);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace capstan::experiment
