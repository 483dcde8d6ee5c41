#include "scenario/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "scenario/read_parts.h"

namespace capstan::scenario {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSmall = R"(name: small
load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
cluster:
  pools:
    - name: h100
      gpu_limit: 16
      offerings:
        - {instance: p5.48xlarge}
policies:
  - {name: a, scale: queue_hpa, place: gang, provision: group}
  - {name: b, scale: {policy: duty_cycle_hpa, target: 70%}, place: first_fit, provision: cluster_autoscaler}
)";

std::string outcome(std::vector<std::string> sets, std::vector<std::string> policies = {}) {
  const ScenarioResult scenario =
      parse_scenario(kSmall, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = policies});
  return scenario ? "possible" : scenario.error().text();
}

TEST(Scenario, ReadsTheInputsOfTheSimulation) {
  const ScenarioResult scenario = parse_scenario(kSmall, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->workload().model, "Llama-3.1-8B");
  EXPECT_EQ(scenario->role().engine->gpu, "h100_sxm");
  EXPECT_EQ(scenario->service().slo.ttft, 1s);
  EXPECT_EQ(scenario->catalog->offerings.at(0).price_per_hour.count, 55'040'000);
  EXPECT_EQ(scenario->cluster.initial.at(0).replicas, 1);
  EXPECT_GT(scenario->role().replica.kv_blocks, 0);
  ASSERT_EQ(scenario->policies.size(), 2u);
  EXPECT_EQ(std::get<decide::scale::DutyCycleHpa>(scenario->policies[1].policies.scale.at(0)).target_percent, 70);
}

TEST(Scenario, PathsOfItsLoadStartAtItsFolder) {
  const auto source = [](const std::string& load, std::vector<std::string> sets = {}) -> std::string {
    std::string text(kSmall);
    const std::size_t from = text.find("load: ");
    text.replace(from, text.find('\n', from) - from, "load: " + load);
    const ScenarioResult scenario =
        parse_scenario(text, "folder/s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
    if (!scenario) return scenario.error().text();
    if (const auto* trace = std::get_if<workload::TraceSpec>(&scenario->endpoint().load.from)) return trace->path;
    return std::get<workload::ProfileSpec>(scenario->endpoint().load.from).name;
  };
  EXPECT_EQ(source("{trace: a.csv}"), "folder/a.csv");
  EXPECT_EQ(source("{profile: a.csv}"), "folder/a.csv");
  EXPECT_EQ(source("{profile: /a.csv}"), "/a.csv");
  EXPECT_EQ(source("{profile: azure-hour}"), "azure-hour");
  EXPECT_EQ(source("{profile: a.csv}", {"load.profile=b.csv"}), "b.csv");  // --set: from the current folder
}

TEST(Scenario, LaunchTimesFollowFromTheProvisioner) {
  const ScenarioResult scenario = parse_scenario(kSmall, "s.yaml");
  ASSERT_TRUE(scenario);
  const auto sum = [&](std::size_t policy, Duration sim::Latency::* end) {
    const sim::ProviderConfig& p = scenario->policies.at(policy).provider;
    return p.decision.*end + p.boot.*end + p.driver.*end;
  };
  EXPECT_EQ(sum(0, &sim::Latency::low), 45s);
  EXPECT_EQ(sum(0, &sim::Latency::high), 60s);
  EXPECT_EQ(sum(1, &sim::Latency::low), 90s);
  EXPECT_EQ(sum(1, &sim::Latency::high), 120s);
}

struct RefusedRow {
  const char* teaches;
  std::vector<std::string> sets;
  const char* outcome;
};

TEST(Scenario, ReportsFaults) {
  const RefusedRow rows[] = {
      {"as it is", {}, "possible"},
      {"a number with a unit is not one without",
       {"service.slo.ttft=2"},
       "--set service.slo.ttft=2: slo.ttft: found \"2\", expected a duration with its unit, such as 250ms, 90s or "
       "1h30m"},
      {"slower than what",
       {"service.start={slower: 300%}"},
       "--set service.start={slower: 300%}: service.start.slower: found without slower_after, expected both"},
      {"nothing to widen",
       {"service.slo={tpot: 50ms, ttft_prefills: 3}"},
       "--set service.slo={tpot: 50ms, ttft_prefills: 3}: slo.ttft_prefills: without slo.ttft there is no bound to "
       "widen"},
      {"unknown keys are errors",
       {"service.modle=x"},
       "--set service.modle=x: service: found key \"modle\", expected one of client, cpu, dtype, engine, "
       "engine_perturbation, engine_settings, gpu, memory, model, name, node_selector, pipeline_parallel, "
       "pods_per_replica, priority, queue, replicas, roles, router, slo, start, step_times, team, tensor_parallel, "
       "together, topology or variants "
       "(did you mean model?)"},
      {"two sources of load",
       {"load.profile=azure-hour"},
       "--set load.profile=azure-hour: load names 2 sources, expected one of trace, profile, generator or closed_loop"},
      {"an instance that resembles two others",
       {"cluster.pools.0.offerings.0.instance=p5.49xlarge"},
       "--set cluster.pools.0.offerings.0.instance=p5.49xlarge: cluster.pools.offerings.instance: found "
       "\"p5.49xlarge\", expected an instance of data/instances.csv (did you mean p5.4xlarge or p5.48xlarge?), or gpu, "
       "gpus and price in addition to the name"},
      {"an unknown instance",
       {"cluster.pools.0.offerings.0.instance=p5.48xlage"},
       "--set cluster.pools.0.offerings.0.instance=p5.48xlage: cluster.pools.offerings.instance: found "
       "\"p5.48xlage\", expected an instance of data/instances.csv (did you mean p5.48xlarge?), or gpu, gpus and price "
       "in addition to the name"},
      {"an unknown instance that resembles two",
       {"cluster.pools.0.offerings.0.instance=p5.49xlarge"},
       "--set cluster.pools.0.offerings.0.instance=p5.49xlarge: cluster.pools.offerings.instance: found "
       "\"p5.49xlarge\", expected an instance of data/instances.csv (did you mean p5.4xlarge or p5.48xlarge?), or gpu, "
       "gpus and price in addition to the name"},
      {"bounds the wrong way round, pointed out at the one that was set",
       {"service.replicas.min=5"},
       "--set service.replicas.min=5: service.replicas: min 5 is above max 4"},
      {"a load's bounds are those of the workload, with their place",
       {"load.generator.arrivals={process: gamma, shape: 0.05}"},
       "--set load.generator.arrivals={process: gamma, shape: 0.05}: load.generator.arrivals.shape: found \"0.05\", "
       "expected 0.1 to 100"},
      {"a setting that is not in the file stands where it is missing",
       {"load.generator.rate={kind: on_off, rate: 1, peak: 2}"},
       "--set load.generator.rate={kind: on_off, rate: 1, peak: 2}: rate lacks \"period\"\n"
       "--set load.generator.rate={kind: on_off, rate: 1, peak: 2}: rate lacks \"length\""},
      {"a key of another kind",
       {"load.generator.rate={rate: 1, peak: 2}"},
       "--set load.generator.rate={rate: 1, peak: 2}: rate: found key \"peak\", expected one of kind or rate"},
      {"a peak below the rate",
       {"load.generator.rate={kind: spike, rate: 3, peak: 2, length: 5m}"},
       "--set load.generator.rate={kind: spike, rate: 3, peak: 2, length: 5m}: load.generator.rate.peak: the peak rate "
       "is 2 per second, expected at least the rate, 3"},
      {"an unknown GPU",
       {"cluster.pools.0.offerings.0={instance: own, gpu: H1000, gpus: 8, usd_per_hour: 9}"},
       "--set cluster.pools.0.offerings.0={instance: own, gpu: H1000, gpus: 8, usd_per_hour: 9}: "
       "cluster.pools.offerings.gpu: found \"H1000\", expected a GPU that is known: A100, B200, H100, H200, L40S, or "
       "one "
       "of data/instances.csv"},
      {"a title that a terminal would obey",
       {"title=\"a\\e[31m\""},
       "--set title=\"a\\e[31m\": scenario.title: found \"a\\x1b[31m\", expected a string without control characters"},
      {"a misspelt manifest",
       {"policies.0.scale={manifset: hpa.yaml}"},
       "--set policies.0.scale={manifset: hpa.yaml}: scale: found key \"manifset\", expected one of decode, manifest, "
       "policy, prefill, services or variants (did you mean manifest?)"},
      {"a scaler without a policy",
       {"policies.0.scale={}"},
       "--set policies.0.scale={}: scale lacks \"policy\", expected the name of a policy, or manifest: FILE for an "
       "HPA, "
       "a ScaledObject or an InferenceScaler"},
      {"a list where a number should be",
       {"load.scale=[1]"},
       "--set load.scale=[1]: load.scale: found a list, expected a number"},
      {"a letter that turns the line round",
       {"title=\"a\u202e\""},
       "--set title=\"a\\xe2\\x80\\xae\": scenario.title: found \"a\\xe2\\x80\\xae\", expected a string without "
       "control characters"},
      {"two letters changed places",
       {"service.slo.tftt=1s"},
       "--set service.slo.tftt=1s: slo: found key \"tftt\", expected "
       "one of attainment, e2e, tpot, ttft or ttft_prefills (did you mean ttft?)"},
      {"not a number", {"load.scale=.nan"}, "--set load.scale=.nan: load.scale: found \".nan\", expected a number"},
      {"scrapes that overtake each other",
       {"cluster.scrape.delay=15s"},
       "--set cluster.scrape.delay=15s: cluster.scrape: delay 15s is not below interval 15s, expected a shorter "
       "delay"},
      {"a back-off beyond its own bound",
       {"service.client={backoff: 2s, backoff_max: 1s}"},
       "--set service.client={backoff: 2s, backoff_max: 1s}: service.client: backoff 2s is above backoff_max 1s"},
      {"pods must divide the GPUs",
       {"service.tensor_parallel=4", "service.pods_per_replica=3"},
       "--set service.pods_per_replica=3: service: 4 GPUs cannot be divided over 3 pods, expected pods_per_replica to "
       "divide tensor_parallel x pipeline_parallel"},
      {"load without an end",
       {"load.duration=~"},
       "--set load.duration=~: the load never ends, expected load.duration (or duration of the whole run)"},
      {"the same name twice", {"policies.1.name=a"}, "--set policies.1.name=a: policies: \"a\" is given twice"},
      {"no policy",
       {"policies=[]"},
       "--set policies=[]: scenario.policies: found an empty list, expected at least one element"},
      {"no zone",
       {"cluster.zones=[]"},
       "--set cluster.zones=[]: cluster.zones: found an empty list, expected at least one element"},
      {"no variant",
       {"service.variants=[]"},
       "--set service.variants=[]: service.variants: found an empty list, expected at least one element"},
      {"every policy of a layer is named, those of others too",
       {"policies.0.scale=kpa"},
       "--set policies.0.scale=kpa: scale.policy: found \"kpa\", expected fixed, duty_cycle_hpa, queue_hpa, "
       "memory_hpa, "
       "capstan, rules, aibrix_apa, aibrix_kpa, dynamo_planner, knative_kpa, ray_serve, wva_v1 or wva_v2"},
      {"an autoscaler of the cluster has a manifest",
       {"policies.0.scale=KEDA"},
       "--set policies.0.scale=KEDA: scale.policy: found \"KEDA\", expected {manifest: FILE} for an HPA or "
       "ScaledObject "
       "of your own, or the name of a policy"},
      {"which price is missing: this machine is not sold as spot",
       {"cluster.pools.0.offerings.0={instance: Standard_ND96asr_A100_v4, capacity: spot}"},
       "--set cluster.pools.0.offerings.0={instance: Standard_ND96asr_A100_v4, capacity: spot}: "
       "cluster.pools.offerings: no spot "
       "price of Standard_ND96asr_A100_v4 is known, expected usd_per_hour"},
      {"and this one only so",
       {"cluster.pools.0.offerings.0.instance=p5e.48xlarge"},
       "--set cluster.pools.0.offerings.0.instance=p5e.48xlarge: cluster.pools.offerings: no on-demand price of "
       "p5e.48xlarge is known, expected usd_per_hour"},
      {"a fleet whose bill no sum can hold",
       {"cluster={racks_per_zone: 1000, nvlink_domains_per_rack: 100, pools: [{name: a, offerings: [{instance: o, "
        "gpu: H100, gpus: 1, usd_per_hour: 99999}]}]}"},
       "--set cluster={racks_per_zone: 1000, nvlink_domains_per_rack: 100, pools: [{name: a, offerings: [{instance: o, "
       "gpu: H100, gpus: 1, usd_per_hour: 99999}]}]}: cluster: its nodes may cost 10 billion USD an hour, expected at "
       "most 1 billion; lower usd_per_hour, gpu_limit or count"},
      {"a machine of one's own has no known price",
       {"cluster.pools.0.offerings.0={instance: own, gpu: H100, gpus: 8}"},
       "--set cluster.pools.0.offerings.0={instance: own, gpu: H100, gpus: 8}: cluster.pools.offerings: no on-demand "
       "price of own is known, expected usd_per_hour"},
      {"two settings, both wrong",
       {"service.slo.ttft=2", "load.scale=.nan"},
       "--set load.scale=.nan: load.scale: found \".nan\", expected a number\n"
       "--set service.slo.ttft=2: slo.ttft: found \"2\", expected a duration with its unit, such as 250ms, 90s or "
       "1h30m"},
  };
  for (const RefusedRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(outcome(row.sets), row.outcome);
  }
}

TEST(Scenario, RefusesInfeasibleScenarios) {
  const RefusedRow rows[] = {
      {"an SLO of nothing",
       {"service.slo.ttft=0s"},
       "--set service.slo.ttft=0s: slo.ttft: an SLO of 0 can never be met"},
      {"no node and no pool",
       {"cluster.pools=[]", "policies=[{name: a, scale: queue_hpa, place: gang, provision: none}]"},
       "--set cluster.pools=[]: the cluster has no node and no pool offers one, so no replica can ever serve"},
      {"a gang larger than any node",
       {"service.tensor_parallel=2", "service.pods_per_replica=2", "cluster.pools.0.offerings.0.instance=p5.4xlarge"},
       "--set service.tensor_parallel=2: a replica is a gang of 2 h100_sxm GPUs that must share one "
       "node, the largest has 1, expected instances with at least 2 such as p5.48xlarge, a3-highgpu-8g or "
       "a3-megagpu-8g"},
      {"a pod larger than any node",
       {"service.tensor_parallel=2", "cluster.pools.0.offerings.0.instance=p5.4xlarge"},
       "--set service.tensor_parallel=2: a pod needs 2 h100_sxm GPUs, the largest node has 1, expected instances with "
       "at least 2 such as p5.48xlarge, a3-highgpu-8g or a3-megagpu-8g"},
      {"another GPU",
       {"cluster.pools.0.offerings.0.instance=p4de.24xlarge"},
       "--set cluster.pools.0.offerings.0.instance=p4de.24xlarge: no node has the GPU that the service runs on, "
       "h100_sxm; p4de.24xlarge has a100_sxm, expected gpu: a100_sxm, or an instance with h100_sxm such as "
       "p5.4xlarge"},
      {"another GPU, for a replica of four",
       {"service.gpu=L40S", "service.model=Qwen3-32B", "service.tensor_parallel=4"},
       "--set service.gpu=L40S: no node has the GPU that the service runs on, l40s; p5.48xlarge has h100_sxm, expected "
       "gpu: h100_sxm, or an instance with at least 4 l40s such as g6e.12xlarge"},
      {"groups that no policy asks for",
       {"policies.0.place=first_fit"},
       "--set policies.0.place=first_fit: policies: \"a\" can never buy a node: provision: group buys nodes only "
       "for shortfalls, which only place: gang reports, expected place: gang, or provision: karpenter or "
       "cluster_autoscaler"},
      {"an SLO that the front end takes",
       {"service.slo.ttft=1s", "service.engine_settings={front_end: 2s}"},
       "--set service.engine_settings={front_end: 2s}: the front end alone takes 2s of every first token, the SLO "
       "allows 1s"},
      {"a limit below the minimum",
       {"cluster.pools.0.gpu_limit=8", "service.replicas={min: 9, max: 9}"},
       "--set service.replicas={min: 9, max: 9}: the minimum is 9 replicas of "
       "1 GPU, but nodes and pool limits allow only 8 GPUs"},
  };
  for (const RefusedRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    const ScenarioResult scenario =
        parse_scenario(kSmall, "s.yaml", {.sets = row.sets, .trace = {}, .seed = {}, .policies = {}});
    ASSERT_FALSE(scenario);
    EXPECT_EQ(scenario.error().text(), row.outcome);
    EXPECT_EQ(scenario.error().kind, ErrorKind::infeasible);
  }
}

/// Returns the file with one of its parts replaced.
std::string with(const std::string& part, const std::string& instead, std::string text = kSmall) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return text.replace(at, part.size(), instead);
}

TEST(Scenario, AnInfeasibleErrorNamesItsPlace) {
  const struct {
    const char* part;
    const char* instead;
    const char* place;
  } rows[] = {
      {"gpu_limit: 16", "gpu_limit: 4", "s.yaml:11:18: no pool may buy a node with h100_sxm"},
      {"model: Llama-3.1-8B", "tensor_parallel: 16\n  model: Llama-3.3-70B", "s.yaml:5:10: service: no engine table"},
      {"gpu: H100", "gpu: A100", "s.yaml:5:8: no node has the GPU that the service runs on, a100_sxm"},
      {"min: 1, max: 4", "min: 99, max: 99", "s.yaml:7:19: the minimum is 99 replicas of 1 GPU"},
      {"offerings:\n        - {instance: p5.48xlarge}", "offerings: []", "s.yaml:12:18: the cluster has no node"},
      {"{ttft: 1s}", "{ttft: 0s}", "s.yaml:6:15: slo.ttft: an SLO of 0 can never be met"},
      {"place: gang", "place: first_fit", "s.yaml:15:40: policies: \"a\" can never buy a node"},
  };
  for (const auto& row : rows) {
    const ScenarioResult scenario = parse_scenario(with(row.part, row.instead), "s.yaml");
    ASSERT_FALSE(scenario) << row.instead;
    EXPECT_TRUE(scenario.error().text().starts_with(row.place)) << scenario.error().text();
    EXPECT_EQ(scenario.error().kind, ErrorKind::infeasible) << row.instead;
  }
}

constexpr const char* kHopeless = R"(name: hopeless
laod: {}
load: {generator: {rate: {kind: spike, rate: 3, peak: 2, length: 5m, start: 1}}, duration: 5}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1, tpot: 0s}
  replicas: {min: 5, max: 4}
  router: {policy: best}
cluster:
  zones: [a, a]
  pools:
    - name: h100
      offerings:
        - {instance: p5.48xlage}
        - {instance: own, gpu: H1000, gpus: 8}
  scrape: {interval: 1s, delay: 2s, loss: lots}
policies:
  - name: a
    scale: {policy: queue_hpa, target: 70%}
    place: gnag
    provision: {policy: group, consolidation: {after: 1}}
  - {name: b, scale: {policy: rules, kv_above: 20%, cool_down: 5}, place: gang}
)";

TEST(Scenario, ReportsAllFaultsAtOnce) {
  const ScenarioResult scenario = parse_scenario(kHopeless, "s.yaml");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().kind, ErrorKind::input);
  std::string places;
  for (const Error& error : scenario.error().list) {
    places += std::to_string(error.line) + ": " + error.message.substr(0, error.message.find_first_of(":,(")) + "\n";
  }
  EXPECT_EQ(places,
            "2: scenario\n"
            "3: rate.start\n"
            "3: load.duration\n"
            "7: slo.ttft\n"
            "7: slo.tpot\n"
            "8: service.replicas\n"
            "9: service.router.policy\n"
            "11: cluster.zones\n"
            "15: cluster.pools.offerings.instance\n"
            "16: cluster.pools.offerings\n"
            "16: cluster.pools.offerings.gpu\n"
            "17: cluster.scrape.loss\n"
            "20: scale under policy queue_hpa\n"
            "21: place.policy\n"
            "22: provision.consolidation.after\n"
            "23: policies lacks \"provision\"\n"
            "23: scale.cool_down\n")
      << scenario.error().text();
}

TEST(Scenario, APartThatIsNoMappingIsOneError) {
  for (const char* part : {"load", "service", "cluster", "service.slo", "service.replicas", "cluster.scrape",
                           "policies.0.provision.consolidation", "load.generator.input"}) {
    const ScenarioResult scenario =
        parse_scenario(kSmall, "s.yaml",
                       {.sets = {"policies.0.provision={policy: group}", std::string(part) + "=[1]"},
                        .trace = {},
                        .seed = {},
                        .policies = {}});
    ASSERT_FALSE(scenario) << part;
    EXPECT_EQ(scenario.error().list.size(), 1u) << scenario.error().text();
  }
}

struct Breakage {
  const char* part;
  const char* instead;
};

/// Mistakes, each in another part of the file.
constexpr Breakage kBreakages[] = {
    {"name: small", "name: [small]"},
    {"rate: 2,", "rate: {kind: wave},"},
    {"input: 200", "input: {kind: uniform, min: 9, max: 8}"},
    {"duration: 5m", "duration: 5"},
    {"model: Llama-3.1-8B", "model: Llama-3.1-9B"},
    {"service:\n", "service:\n  engine_settings: {max_seqs: 0}\n"},
    {"{ttft: 1s}", "{ttft: 0s}"},
    {"{min: 1, max: 4}", "{min: 5, max: 4}"},
    {"gpu_limit: 16", "gpu_limit: -1"},
    {"{instance: p5.48xlarge}", "{instance: own, gpu: H100, gpus: 8}"},
    {"cluster:\n", "cluster:\n  zones: []\n"},
    {"policies:\n", "  scrape: {delay: 20s}\npolicies:\n"},
    {"scale: queue_hpa", "scale: queue"},
    {"target: 70%", "target: 70.5%"},
    {"place: gang", "place: [gang]"},
    {"place: first_fit", "place: {period: 1s}"},
    {"provision: group", "provision: {policy: none}"},
    {"provision: cluster_autoscaler", "provision: {policy: karpenter, consolidation: {policy: never, after: 1m}}"},
    {"name: b", "name: a"},
    {"load:", "seed: 1\nseed: 2\nload:"},
    {"name: h100", "name: !!str h100"},
};

std::set<std::string> errors_of(const std::string& text) {
  std::set<std::string> all;
  const ScenarioResult scenario = parse_scenario(text, "s.yaml");
  if (scenario) return all;
  for (const Error& error : scenario.error().list) all.insert(error.message);
  return all;
}

TEST(Scenario, TwoErrorsAreBothReported) {
  for (const Breakage& one : kBreakages) {
    const std::string broken = with(one.part, one.instead);
    const std::set<std::string> alone = errors_of(broken);
    EXPECT_EQ(alone.size(), 1u) << one.instead << ": " << testing::PrintToString(alone);
    for (const Breakage& other : kBreakages) {
      if (&other <= &one) continue;
      std::set<std::string> both = errors_of(with(other.part, other.instead));
      both.insert(alone.begin(), alone.end());
      EXPECT_EQ(errors_of(with(other.part, other.instead, broken)), both) << one.instead << " and " << other.instead;
    }
  }
}

TEST(Scenario, AcceptsModelNamesOfHubsAndGpuNamesOfNodes) {
  const struct {
    std::vector<std::string> sets;
    const char* variant;  ///< model, weights, GPU
  } rows[] = {
      {{}, "Llama-3.1-8B bfloat16 h100_sxm"},
      {{"service.model=meta-llama/Llama-3.1-8B-Instruct"}, "Llama-3.1-8B bfloat16 h100_sxm"},
      {{"service.model=Qwen/Qwen3-32B", "service.gpu=NVIDIA-H100-80GB-HBM3"}, "Qwen3-32B bfloat16 h100_sxm"},
      {{"service.model=Qwen/Qwen3-32B-FP8"}, "Qwen3-32B fp8 h100_sxm"},
      {{"service.model=Qwen/Qwen3-32B-FP8", "service.dtype=bfloat16"}, "Qwen3-32B bfloat16 h100_sxm"},
      {{"cluster.pools.0.offerings.0={instance: own, gpu: NVIDIA-H100-80GB-HBM3, gpus: 8, usd_per_hour: 9}"},
       "Llama-3.1-8B bfloat16 h100_sxm"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.sets.empty() ? "as it is" : row.sets.front());
    const ScenarioResult scenario =
        parse_scenario(kSmall, "s.yaml", {.sets = row.sets, .trace = {}, .seed = {}, .policies = {}});
    ASSERT_TRUE(scenario) << scenario.error().text();
    const model::Workload& workload = scenario->workload();
    EXPECT_EQ(workload.model + " " + workload.dtype + " " + scenario->catalog->gpu_kind(workload.gpu), row.variant);
    EXPECT_EQ(scenario->catalog->offerings.at(0).gpu, workload.gpu);
  }
  EXPECT_TRUE(
      outcome({"service.gpu=NVIDIA-H100-PCIe"}).find("no engine table for Llama-3.1-8B on NVIDIA-H100-PCIe tp 1") !=
      std::string::npos);
}

TEST(Scenario, AcceptsALoadAtItsBounds) {
  const char* loads[] = {
      "{generator: {rate: 0.000001, input: 1, output: 16777216}, duration: 1s, scale: 0.000001, scale_jitter: 0s}",
      "{generator: {rate: 10000000, input: {kind: log_normal, tokens: 1, sigma: 10}}, duration: 8784h, scale: 100000, "
      "scale_jitter: 1h}",
      "{generator: {rate: {kind: diurnal, rate: 0, peak: 1, period: 1m, start: 8784h}}, duration: 1m}",
      "{generator: {rate: {kind: on_off, rate: 0, peak: 1, period: 1s, length: 0s}}, duration: 1m}",
      "{generator: {rate: {kind: ramp, rate: 0, peak: 1, length: 1ms}}, duration: 1m}",
      "{generator: {rate: {kind: piecewise, step: 1ms, step_rates: [1]}}}",
      "{generator: {rate: 1, arrivals: {process: gamma, shape: 0.1}, sessions: {turns_mean: 1000, turn_gap_mean: 24h, "
      "system_tokens: 16777215, max_context: 16777216}}, duration: 1m}",
      "{closed_loop: {concurrency: 1000000, think_time: 24h, requests: 1000000000}}"};
  for (const char* load : loads) EXPECT_EQ(outcome({std::string("load=") + load}), "possible");
}

TEST(Scenario, AWrongSettingIsAUsageError) {
  for (const char* set : {"service.modle=x", "load.scale=.nan", "policies.9.name=x", "service.slo=fast", "load.scale",
                          "service.replicas.min=5", "title=[1"}) {
    const ScenarioResult scenario =
        parse_scenario(kSmall, "s.yaml", {.sets = {set}, .trace = {}, .seed = {}, .policies = {}});
    ASSERT_FALSE(scenario) << set;
    EXPECT_EQ(scenario.error().kind, ErrorKind::usage) << set;
  }
  EXPECT_EQ(parse_scenario(with("gpu: H100", "gpv: H100"), "s.yaml").error().kind, ErrorKind::input);
}

TEST(Scenario, PoliciesArePickedByName) {
  EXPECT_EQ(outcome({}, {"b"}), "possible");
  EXPECT_EQ(outcome({}, {"c"}), "--policy: found \"c\", expected one of \"a\", \"b\" (did you mean \"a\"?)");
}

TEST(Scenario, EveryExampleIsFeasible) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAPSTAN_SOURCE_DIR "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    const ScenarioResult scenario = read_scenario(entry.path());
    EXPECT_TRUE(scenario) << scenario.error().text();
    ++count;
  }
  EXPECT_GE(count, 2u);
}

TEST(Scenario, RefusesSleepWhereReplicasMustBeSpread) {
  const std::vector<std::string> spread = {"policies.1.place=gang", "policies.1.provision=group",
                                           "service.replicas.survive=zone"};
  EXPECT_EQ(outcome(spread), "possible");
  std::vector<std::string> both = spread;
  both.emplace_back("policies.0.sleep={replicas: 1}");
  EXPECT_NE(outcome(both).find("expected only one of them"), std::string::npos) << outcome(both);
}

TEST(Scenario, ReadsStepTimesOfTheUser) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "scenario_step_times.csv";
  std::string rows(engine::bundled_engines_csv());
  const std::string header = rows.substr(0, rows.find('\n'));
  const std::string first = rows.substr(header.size() + 1, rows.find('\n', header.size() + 1) - header.size() - 1);
  const std::string own = "Mine,h100-3g.40gb,1," + first.substr(first.find("bfloat16"));
  std::ofstream(path) << header << ",gpu_memory_bytes\n" << own << ",42949672960\n";
  const std::vector<std::string> sets = {
      "service.step_times=" + path.string(), "service.model=Mine", "service.gpu=h100-3g.40gb",
      "cluster.pools.0.offerings.0={instance: p5.48xlarge, gpu: h100-3g.40gb, gpus: 16}"};
  const ScenarioResult scenario =
      parse_scenario(kSmall, "s.yaml", {.sets = sets, .trace = {}, .seed = {}, .policies = {}});
  ASSERT_TRUE(scenario) << scenario.error().text();
  EXPECT_EQ(scenario->role().engine->model, "Mine");
  EXPECT_EQ(scenario->role().engine->gpu_memory.count, 42'949'672'960);
  EXPECT_NE(outcome({"service.step_times=nowhere.csv"}).find("cannot read \"nowhere.csv\""), std::string::npos);
}

}  // namespace
}  // namespace capstan::scenario
