// Goal: a scenario may have batch jobs next to its services, and every wrong value is an error with its place.
#include <gtest/gtest.h>

#include <fstream>

#include "scenario/scenario.h"

namespace capstan::scenario {
namespace {

using namespace std::chrono_literals;

constexpr const char* kJobs = R"(name: jobs
queues:
  - {name: batch, gpu_limit: 32}
load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
jobs:
  - name: training
    queue: batch
    gpu: H100
    together: zone
    sizes: [{pods: 1, gpus_per_pod: 8, weight: 3}, {pods: 2, gpus_per_pod: 8}]
    work: {median: 90m, sigma: 0.5, max: 6h}
    start: 60s
    checkpoint_every: 15m
    arrivals: {per_hour: 2, peak_per_hour: 6, peak_at: 3h, until: 20h}
    goal: {finish_within: 12h, attainment: 90%}
  - name: nightly
    gpu: NVIDIA-H100-80GB-HBM3
    work: 20m
    arrivals: {count: 24, at: 2h}
cluster:
  pools:
    - {name: h100, gpu_limit: 32, offerings: [{instance: p5.48xlarge}]}
policies:
  - {name: a, scale: capstan, place: gang, provision: group}
)";

ScenarioResult with(std::vector<std::string> sets) {
  return parse_scenario(kJobs, "s.yaml", {.sets = std::move(sets), .trace = {}, .seed = {}, .policies = {}});
}

TEST(ScenarioJobs, AClassHasItsSizesArrivalsAndGoal) {
  const ScenarioResult scenario = with({});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  EXPECT_FALSE(scenario->is_alone());
  ASSERT_EQ(scenario->jobs.size(), 2u);
  const JobSpec& training = scenario->jobs[0];
  EXPECT_EQ(training.job_class.queue, model::QueueId{0});
  EXPECT_EQ(training.job_class.required_level, model::Level(model::TopologyLevel::zone));
  EXPECT_EQ(training.job_class.checkpoint_every, 15min);
  EXPECT_EQ(training.job_class.start.low, 60s);
  ASSERT_EQ(training.load.sizes.size(), 2u);
  EXPECT_EQ(training.load.sizes[0].weight, 3);
  EXPECT_EQ(training.load.sizes[1].pods, 2);
  EXPECT_EQ(training.load.work.median, 90min);
  EXPECT_EQ(training.load.rate.peak_per_hour, 6);
  EXPECT_EQ(training.load.until, 20h);
  ASSERT_TRUE(training.goal.has_value());
  EXPECT_EQ(training.goal->attainment_ppm, 900'000);
  const JobSpec& nightly = scenario->jobs[1];
  EXPECT_EQ(nightly.job_class.gpu, training.job_class.gpu) << "a node's name of the GPU is the same kind";
  EXPECT_EQ(nightly.load.batches.count, 24);
  EXPECT_FALSE(nightly.goal.has_value());
  EXPECT_FALSE(nightly.job_class.queue.valid());
}

TEST(ScenarioJobs, AClassMayBePreemptibleElasticAndOfATeam) {
  const ScenarioResult scenario = with({"jobs.1.preemptible=true", "jobs.1.priority=-5", "jobs.1.pods={min: 2, max: 8}",
                                        "jobs.0.team=research", "service.priority=10", "service.team=web"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  EXPECT_TRUE(scenario->jobs[1].job_class.preemptible);
  EXPECT_EQ(scenario->jobs[1].job_class.priority, -5);
  EXPECT_EQ(scenario->jobs[1].load.sizes[0].min_pods, 2);
  EXPECT_EQ(scenario->jobs[1].load.sizes[0].pods, 8);
  EXPECT_FALSE(scenario->jobs[0].job_class.preemptible);
  EXPECT_EQ(scenario->jobs[0].team, "research");
  EXPECT_EQ(scenario->workload().priority, 10);
  EXPECT_EQ(scenario->endpoint().team, "web");
}

TEST(ScenarioJobs, ATraceHasItsOwnSizesAndTimes) {
  const std::string trace = "trace: {file: " CAPSTAN_SOURCE_DIR "/scenarios/traces/jobs.csv";
  const ScenarioResult scenario = with({"jobs.1={name: recorded, gpu: H100, " + trace + "}}"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const auto& jobs = scenario->jobs[1].recorded;
  ASSERT_TRUE(jobs.has_value());
  ASSERT_EQ(jobs->size(), 3u);
  EXPECT_EQ(jobs->front().arrival.gpus_per_pod, MilliGpu{500});
  EXPECT_EQ((*jobs)[2].arrival.work, 2h);
  EXPECT_EQ(scenario->catalog->eligibility.requests(jobs->front().pod_class).cpu_milli, 4000);
  EXPECT_TRUE(jobs->front().gpus.empty());
  const auto error_of = [&](const std::string& job) {
    const ScenarioResult wrong = with({"jobs.1=" + job});
    return wrong ? std::string("possible") : wrong.error().text();
  };
  EXPECT_NE(error_of("{name: x, gpu: H100, work: 1h, " + trace + "}}").find("found key \"work\""), std::string::npos);
  EXPECT_NE(error_of("{name: x, gpu: H100, " + trace + ", from: 9h}}").find("found no job in this part"),
            std::string::npos);
  EXPECT_NE(error_of("{name: x, gpu: H100, trace: {file: /none.csv}}").find("/none.csv"), std::string::npos);
}

TEST(ScenarioJobs, NodesMayHaveAGpuThatOnlyJobsUse) {
  const std::string nodes = "cluster.existing=[{instance: old, gpu: P100, gpus: 2, usd_per_hour: 1, count: 3}]";
  EXPECT_TRUE(with({"jobs.1.gpu=P100", nodes}).has_value());
  const ScenarioResult misspelled = with({"jobs.1.gpu=P100", nodes, "cluster.existing.0.gpu=P10"});
  ASSERT_FALSE(misspelled.has_value());
  EXPECT_NE(misspelled.error().text().find("cluster.existing.gpu: found \"P10\""), std::string::npos);
}

/// Writes a file of a test and returns its path.
std::string file_with(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

const char* const kFileNodes =
    "sn,cpu_milli,memory_mib,gpu,model\na,8000,32768,2,P100\nb,96000,393216,8,G2\nc,96000,393216,8,G2\n"
    "d,16000,65536,1,T4\n";

TEST(ScenarioJobs, NodesOfAFileMayHaveAnyKindOfGpu) {
  const std::string file = file_with("nodes.csv", kFileNodes);
  const std::string jobs = "jobs=[{name: x, gpu: any, cpu: 4, work: 1h, arrivals: {count: 1}}]";
  const ScenarioResult scenario =
      with({jobs, "cluster.existing=[{file: " + file + ", usd_per_hour: 2}, {file: " + file + ", gpu: t4}]"});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const model::Catalog& catalog = *scenario->catalog;
  ASSERT_EQ(scenario->cluster.existing.size(), 4u);
  EXPECT_EQ(scenario->cluster.existing[1].count, 2) << "equal rows are one group";
  const model::Offering& large = catalog.offering(scenario->cluster.existing[1].offering);
  EXPECT_EQ(large.instance_type, "8xG2-96cpu-384Gi");
  EXPECT_EQ(catalog.gpu_kind(large.gpu), "G2");
  EXPECT_EQ(large.price_per_hour, MicroUsd{2'000'000});
  EXPECT_EQ(catalog.resources_of_new_node(scenario->cluster.existing[0].offering)->cpu_milli, 8000);
  EXPECT_EQ(catalog.gpu_kind(catalog.offering(scenario->cluster.existing[3].offering).gpu), "t4");
  const sim::JobClass& job_class = scenario->jobs[0].job_class;
  EXPECT_EQ(catalog.gpu_kind(job_class.gpu), "t4") << "the cheapest GPU first";
  EXPECT_EQ(job_class.other_gpus.size(), 3u);
}

TEST(ScenarioJobs, AJobMayUseSeveralKindsOfGpu) {
  const std::string nodes = "cluster.existing=[{file: " + file_with("nodes.csv", kFileNodes) + "}]";
  const std::string rows =
      file_with("pods.csv",
                "cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n"
                "1000,1024,1,1000,G2|P100,0,60,0\n2000,1024,1,500,,5,65,5\n");
  const std::string trace = ", trace: {file: " + rows + "}}]";
  const ScenarioResult scenario = with({nodes, "jobs=[{name: x, gpu: [P100, G2]" + trace});
  ASSERT_TRUE(scenario.has_value()) << scenario.error().text();
  const JobSpec& spec = scenario->jobs[0];
  EXPECT_EQ(spec.job_class.other_gpus.size(), 1u);
  ASSERT_EQ(spec.recorded->front().gpus.size(), 2u);
  EXPECT_EQ(scenario->catalog->gpu_kind(spec.recorded->front().gpus[0]), "G2") << "in the order of the row";
  EXPECT_TRUE(spec.recorded->back().gpus.empty()) << "a row that names none has those of the class";

  const auto error_of = [&](const std::string& job) {
    const ScenarioResult wrong = with({nodes, job});
    return wrong ? std::string("possible") : wrong.error().text();
  };
  EXPECT_NE(error_of("jobs=[{name: x, gpu: [T4, H100]" + trace).find("expected one of the kinds"), std::string::npos)
      << error_of("jobs=[{name: x, gpu: [T4, H100]" + trace);
  EXPECT_EQ(error_of("jobs=[{name: x, gpu: any" + trace), "possible");
  EXPECT_EQ(error_of("jobs=[{name: x, gpu: [P100, G2], gpus_per_pod: 8, work: 1h, arrivals: {count: 1}}]"), "possible")
      << "one of the kinds is enough";
  EXPECT_NE(error_of("jobs=[{name: x, gpu: [], work: 1h, arrivals: {count: 1}}]").find("found an empty list"),
            std::string::npos);
  EXPECT_NE(error_of("cluster.existing=[{file: none.csv}]").find("cannot read \"none.csv\""), std::string::npos);
}

struct Fault {
  const char* about;
  const char* set;
  const char* message;
};

TEST(ScenarioJobs, EveryWrongValueIsAnErrorWithItsPlace) {
  for (const Fault& fault : {
           Fault{"names differ", "jobs.1.name=training", "jobs: \"training\" is given twice"},
           Fault{"no name of a service", "jobs.1.name=service", "jobs: \"service\" is the name of a service"},
           Fault{"a peak above the lowest rate", "jobs.0.arrivals.peak_per_hour=1",
                 "peak_per_hour 1 is below per_hour 2"},
           Fault{"a queue must exist", "jobs.0.queue=none",
                 "jobs.training.queue: found \"none\", expected one of batch"},
           Fault{"the work of a job", "jobs.1.work=0s", "jobs.nightly.work: found 0s, expected 1s to 8784h"},
           Fault{"a negative duration", "jobs.1.work=-5m", "jobs.nightly.work: found -5m, expected 1s to 8784h"},
           Fault{"work between its bounds", "jobs.0.work={median: 1h, min: 2h, max: 1h}", "min 2h is above max 1h"},
           Fault{"arrivals without a source", "jobs.1.arrivals={until: 3h}", "lacks \"count\" or \"per_hour\""},
           Fault{"arrivals without an end", "jobs.0.arrivals={per_hour: 2}", "lacks \"until\""},
           Fault{"more jobs than the limit", "jobs.0.arrivals={per_hour: 1000000, until: 20h}",
                 "found about 20000000 jobs, expected at most 1000000"},
           Fault{"two ways to arrive", "jobs.1.arrivals={count: 2, per_hour: 3}", "found key \"per_hour\""},
           Fault{"a GPU that no node has", "jobs.1.gpu=A100", "jobs.nightly: no node has a100"},
           Fault{"a pod larger than a node", "jobs.0.sizes.1.gpus_per_pod=16",
                 "jobs.training: a pod needs 16 h100_sxm GPUs, the largest node has 8 (no instance of "
                 "data/instances.csv has more than 8)"},
           Fault{"a job larger than its domain",
                 "jobs.0={name: x, gpu: H100, pods: 2, gpus_per_pod: 8, work: 1h, "
                 "arrivals: {count: 1}}",
                 "jobs.x: a job needs 16 h100_sxm GPUs that must share one node, the largest has 8"},
           Fault{"a job larger than all pools",
                 "jobs.0={name: x, gpu: H100, pods: 5, gpus_per_pod: 8, together: zone, "
                 "work: 1h, arrivals: {count: 1}}",
                 "jobs.x: a job needs 40 h100_sxm GPUs, but nodes and pool limits allow only 32"},
           Fault{"a job larger than the limit of its queue", "queues.batch.gpu_limit=8",
                 "--set queues.batch.gpu_limit=8: jobs.training: a job needs 16 GPUs, but queues.batch.gpu_limit "
                 "allows 8, expected smaller jobs or at least 16 there"},
           Fault{"a job larger than the limit above its queue",
                 "queues=[{name: all, gpu_limit: 12}, {name: batch, parent: all}]",
                 "jobs.training: a job needs 16 GPUs, but queues.all.gpu_limit allows 12"},
           Fault{"a queue that may hold nothing", "queues.batch.gpu_limit=0",
                 "jobs.training: a job needs 8 GPUs, but queues.batch.gpu_limit allows 0"},
           Fault{"pods that are no number", "jobs.1.pods=many",
                 "jobs.nightly.pods: found \"many\", expected a whole number or a mapping"},
           Fault{"no pods", "jobs.1.pods=0", "jobs.nightly.pods: found \"0\", expected 1 to 1024"},
           Fault{"elastic pods in order", "jobs.1.pods={min: 4, max: 2}", "jobs.nightly.pods: min 4 is above max 2"},
           Fault{"elastic pods need both bounds", "jobs.1.pods={min: 4}", "jobs.nightly.pods lacks \"max\""},
           Fault{"the least of an elastic job",
                 "jobs.1={name: x, gpu: H100, pods: {min: 9, max: 16}, work: 1h, "
                 "arrivals: {count: 1}}",
                 "jobs.x: a job needs 9 h100_sxm GPUs that must share one node, the largest has 8"},
           Fault{"a priority is a number", "jobs.0.priority=high", "jobs.training.priority: found \"high\""},
           Fault{"a negative checkpoint", "jobs.0.checkpoint_every=-1m",
                 "jobs.training.checkpoint_every: found \"-1m\""},
           Fault{"a negative goal", "jobs.0.goal.finish_within=-1h", "jobs.training.goal.finish_within: found \"-1h\""},
           Fault{"no lower bound beside jobs", "bound=true",
                 "bound: found true, but the lower bound is computed for one"},
       }) {
    const ScenarioResult scenario = with({fault.set});
    ASSERT_FALSE(scenario.has_value()) << fault.about;
    EXPECT_NE(scenario.error().text().find(fault.message), std::string::npos)
        << fault.about << ": " << scenario.error().text();
  }
}

}  // namespace
}  // namespace capstan::scenario
