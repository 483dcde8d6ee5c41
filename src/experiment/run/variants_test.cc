// Goal: a service with several variants is read, gets its requests from the router, is scaled together or separately,
// and is explained variant by variant. The scenario variants.yaml shows the benefit of a mix.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "experiment/compare.h"
#include "experiment/run/prepare.h"
#include "scenario/scenario.h"

namespace capstan::experiment {
namespace {

constexpr const char* kVariantsScenario = R"(
name: variants
load:
  duration: {}
  generator:
    rate: {}
    input: {{kind: log_normal, tokens: 750, sigma: 0.9, max: 8000}}
    output: {{kind: log_normal, tokens: 160, sigma: 0.8, max: 2000}}
service:
  model: Llama-3.1-8B
  slo: {{ttft: 1s, tpot: 50ms, attainment: 99%}}
  replicas: {{min: 0, max: 16}}
  start: {{weights_from: host_memory, engine_init: 50s..60s}}
  router: {{policy: least_loaded, gateway_max_waiting: 1000}}
  variants: {}
cluster:
  image_cached_on_boot: true
  racks_per_zone: 8
  nvlink_domains_per_rack: 8
  termination_grace: 10m
  pools:
    - {{name: h100, gpu_limit: 16, offerings: [{{instance: p5.4xlarge}}]}}
    - {{name: a100, gpu_limit: 4, offerings: [{{instance: a2-ultragpu-1g, usd_per_hour: 2.00, refused: {}}}]}}
  existing:
    - {{instance: p5.4xlarge, count: 4, pool: h100}}
policies:
  - name: one
    scale: {}
    place: gang
    provision: {{policy: karpenter, consolidation: {{policy: when_empty, after: 1m}}}}
)";

const char* const kVariantScenario =
    "[{name: h100, gpu: H100, replicas: {min: 0, max: 16, initial: 4}}, {name: a100, gpu: A100}]";

struct VariantsCase {
  std::string scale = "capstan";
  std::string variants = kVariantScenario;
  std::string rate = "60";
  std::string length = "1h";
  std::string refused = "0%";
};

scenario::ScenarioResult variants_scenario(const VariantsCase& c, std::vector<std::string> sets = {}) {
  return scenario::parse_scenario(fmt::format(kVariantsScenario, c.length, c.rate, c.variants, c.refused, c.scale),
                                  "variants.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
}

RunResult variants_run(const VariantsCase& c) {
  const auto scenario = variants_scenario(c);
  EXPECT_TRUE(scenario.has_value()) << scenario.error().text();
  PreparedRun prepared = prepare(*scenario, scenario->policies.front(), scenario->seed);
  prepared.setup.verify = true;
  const Result<RunResult> result = simulate(prepared.setup);
  EXPECT_TRUE(result.has_value());
  return *result;
}

TEST(Variants, EachVariantIsAServiceOfTheCatalog) {
  const auto scenario = variants_scenario({});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  EXPECT_TRUE(scenario->endpoint().has_variants());
  EXPECT_FALSE(scenario->endpoint().is_disaggregated());
  const std::vector<model::Service>& services = scenario->catalog->services;
  ASSERT_EQ(services.size(), 2u);
  EXPECT_EQ(services[0].alternatives, std::vector<model::ServiceId>{{1}});
  EXPECT_EQ(services[0].name, "service h100");
  EXPECT_EQ(services[1].workload.name, "a100");
  EXPECT_EQ(services[1].max_replicas, 16) << "as the service says";
  EXPECT_EQ(scenario->cluster.initial[1].replicas, 0);
  EXPECT_EQ(describe(*scenario).service, "Llama-3.1-8B, h100 TP1 on H100 and a100 TP1 on A100");
}

TEST(Variants, TheRouterWeighsRequestsByCapacity) {
  const auto usual = variants_scenario({});
  EXPECT_GT(usual->endpoint().roles[0].weight, usual->endpoint().roles[1].weight * 3 / 2);
  EXPECT_LT(usual->endpoint().roles[0].weight, usual->endpoint().roles[1].weight * 6);
  const auto stated =
      variants_scenario({.variants = "[{name: a, gpu: H100, weight: 7}, {name: b, gpu: A100, weight: 2}]"});
  EXPECT_EQ(stated->endpoint().roles[0].weight, 7);
  EXPECT_EQ(stated->endpoint().roles[1].weight, 2);
}

TEST(Variants, ReportsFaultsOfAVariant) {
  struct Row {
    const char* variants;
    const char* says;
  };
  const Row rows[] = {
      {"[{name: h100, gpu: H100}]", "service.variants: found 1, expected 2 to 8"},
      {"[{name: h100, gpu: H100}, {gpu: A100}]", "service.variants.1 lacks \"name\""},
      {"[{name: h100, gpu: H100}, {name: h100, gpu: A100}]", "\"h100\" is given twice"},
      {"[{name: h100, gpu: H100}, {name: a100}]", "service.variants.1 lacks \"gpu\""},
      {"[{name: h100, gpu: H100}, {name: a100, gpu: A100, slo: {ttft: 1s}}]", "service.variants.1: found key \"slo\""},
      {"[{name: h100, gpu: H100, weight: 3}, {name: a100, gpu: A100}]", "found a variant without weight"},
      {"[{name: h100, gpu: H100}, {name: a100, gpu: A100, model: Qwen3-14B}]", "expected one model"},
      {"[{name: h100, gpu: H100}, {name: h200, gpu: H200}]", "no node has the GPU that the service runs on, h200_sxm"},
      {"[{name: h100, gpu: H100}, {name: a100, gpu: A100, replicas: {min: 5, max: 9}}]", "need 5 GPUs"},
  };
  for (const Row& row : rows) {
    const auto scenario = variants_scenario({.variants = row.variants});
    ASSERT_FALSE(scenario.has_value()) << row.variants;
    EXPECT_NE(scenario.error().text().find(row.says), std::string::npos) << scenario.error().text();
  }
  const auto foresight = variants_scenario({}, {"bound=true"});
  ASSERT_FALSE(foresight.has_value());
  EXPECT_NE(foresight.error().text().find("replicas of one kind"), std::string::npos);
}

TEST(Variants, UsesCheapReplicasFirstUpToTheirLimit) {
  const RunResult result = variants_run({});
  EXPECT_GE(result.attainment_ppm(), 990'000);
  EXPECT_EQ(result.invariants.total(), 0);
  EXPECT_TRUE(result.warnings.empty());
  ASSERT_EQ(result.roles.size(), 2u);
  EXPECT_EQ(result.roles[1].variant, "a100");
  EXPECT_EQ(result.roles[1].ready_peak, 4) << "the most that the GPU limit of the pool allows";
  EXPECT_GE(result.roles[0].ready_peak, 1);
}

TEST(Variants, UsesTheOtherVariantIfTheCheapOneIsUnavailable) {
  const RunResult result = variants_run({.refused = "100%"});
  EXPECT_GE(result.attainment_ppm(), 990'000);
  EXPECT_EQ(result.invariants.total(), 0);
  EXPECT_EQ(result.roles[1].ready_peak, 0);
  EXPECT_GT(result.nodes_refused, 0);
  EXPECT_LT(result.nodes_refused, 40) << "launches are not repeated all the time";
}

TEST(Variants, APolicyForOneVariantScalesTheFirstAndWarns) {
  const RunResult result = variants_run({.scale = "{policy: queue_hpa, waiting_per_replica: 2}", .length = "10m"});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find("it scales h100, and a100 stays at 0"), std::string::npos) << result.warnings[0];
  EXPECT_EQ(result.roles[1].ready_peak, 0);
}

TEST(Variants, EachVariantMayHaveItsOwnPolicy) {
  const VariantsCase apart{
      .scale = "{variants: {h100: {policy: fixed, replicas: 4}, a100: {policy: fixed, replicas: 2}}}", .length = "20m"};
  const RunResult result = variants_run(apart);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(result.roles[1].ready_peak, 2);
  EXPECT_EQ(result.scale_steps.back().variant, "a100");
  EXPECT_EQ(result.invariants.total(), 0);
  const auto lacks = variants_scenario({.scale = "{variants: {h100: capstan}}"});
  ASSERT_FALSE(lacks.has_value());
  EXPECT_NE(lacks.error().text().find("scale.variants lacks \"a100\""), std::string::npos) << lacks.error().text();
}

}  // namespace
}  // namespace capstan::experiment
