// Goal: a gang with a higher priority takes the GPUs of preemptible jobs, no more than it needs, and elastic jobs start
// with the pods for which there is room.
#include "sim/cluster/queueing_controller.h"

#include <gtest/gtest.h>

#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;

JobClass class_of(const char* name, std::int32_t priority, bool preemptible) {
  JobClass made;
  made.name = name;
  made.gpu = {0};
  made.required_level = model::TopologyLevel::node;
  made.start = Latency::exactly(seconds(10));
  made.checkpoint_every = seconds(30);
  made.priority = priority;
  made.preemptible = preemptible;
  return made;
}

/// Two nodes of eight GPUs, and jobs that a test binds by itself. Class 0 is preemptible, classes 1 and 2 have a higher
/// priority. The pods of a job are on one node; in class 2 they are in one zone.
struct AdmissionBench : Bench {
  explicit AdmissionBench(std::vector<Job> jobs, std::int32_t service_priority = 0)
      : Bench(config_of(std::move(jobs), service_priority)) {}

  static ClusterConfig config_of(std::vector<Job> jobs, std::int32_t service_priority) {
    ClusterConfig config = small_config();
    auto catalog = std::make_shared<model::Catalog>(*config.catalog);
    catalog->services.front().workload.priority = service_priority;
    config.catalog = catalog;
    config.job_classes = {class_of("batch", 0, true), class_of("urgent", 10, false), class_of("wide", 10, false)};
    config.job_classes[2].required_level = model::TopologyLevel::zone;
    config.jobs = std::move(jobs);
    config.pod_creation = Latency::exactly(seconds(2));
    return config;
  }
  /// Returns the gang of a job; invalid if it has none.
  model::GangId gang_of(std::uint32_t job) const {
    model::GangId found;
    truth().gangs.for_each([&](model::GangId id, const model::Gang& row) {
      if (!row.service.valid() && row.ordinal == job) found = id;
    });
    return found;
  }
  void bind(std::uint32_t job, model::NodeId node) {
    cluster.submit(bind_to(truth(), gang_of(job), node));
    run_for(milliseconds(200));
  }
  const JobProgress& progress(std::uint32_t job) const { return cluster.jobs().progress()[job]; }
};

TEST(QueueingController, AJobWithAHigherPriorityTakesTheGpusOfTheJobThatBeganLast) {
  AdmissionBench bench({{at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                        {at_s(100), 1, 1, whole_gpus(8), seconds(50)}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.run_to(at_s(20));
  bench.bind(1, {1});
  bench.run_to(at_s(104));
  EXPECT_EQ(bench.progress(0).preemptions + bench.progress(1).preemptions, 0) << "a placement has five seconds";
  bench.run_to(at_s(105));
  EXPECT_EQ(bench.progress(0).preemptions, 0);
  EXPECT_EQ(bench.progress(1).preemptions, 1);
  EXPECT_EQ(bench.progress(1).restarts, 1);
  EXPECT_EQ(bench.progress(1).saved, seconds(60)) << "it computed for 75 s, with a checkpoint every 30 s";
  EXPECT_GT(bench.progress(1).lost, seconds(14));
  EXPECT_FALSE(bench.gang_of(1).valid());
  bench.bind(2, {1});
  bench.run_to(at_s(115));
  EXPECT_TRUE(bench.gang_of(1).valid()) << "it waits again";
  bench.run_to(at_s(600));
  EXPECT_TRUE(bench.progress(2).has_ended());
  EXPECT_EQ(bench.progress(0).restarts, 0);
  const ClusterMeter meter = bench.cluster.meter(at_s(600));
  EXPECT_EQ(meter.job_restarts[static_cast<std::size_t>(Interruption::preemption)], 1);
}

TEST(QueueingController, NoJobEndsWithoutNeed) {
  struct Row {
    const char* about;
    std::int32_t waiting_class;
    std::int32_t pods;
    GpuCount gpus_per_pod;
  };
  for (const Row& row : {Row{"the same priority", 0, 1, 8}, Row{"a free node has room", 1, 1, 4},
                         Row{"even all jobs make no room in one node", 1, 2, 8}}) {
    AdmissionBench bench({{at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                          {at_s(0), 0, 1, whole_gpus(4), seconds(1000)},
                          {at_s(50), static_cast<std::uint32_t>(row.waiting_class), row.pods,
                           whole_gpus(row.gpus_per_pod), seconds(50)}});
    bench.run_to(at_s(1));
    bench.bind(0, {0});
    bench.bind(1, {1});
    bench.run_to(at_s(200));
    EXPECT_EQ(bench.progress(0).restarts + bench.progress(1).restarts, 0) << row.about;
  }
}

TEST(QueueingController, TheDomainWithTheFewestGpusToTakeIsChosen) {
  AdmissionBench bench({{at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 1, whole_gpus(2), seconds(1000)},
                        {at_s(0), 0, 1, whole_gpus(4), seconds(1000)},
                        {at_s(50), 1, 1, whole_gpus(6), seconds(50)}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.bind(2, {1});
  bench.run_to(at_s(60));
  EXPECT_EQ(bench.progress(0).preemptions, 0);
  EXPECT_EQ(bench.progress(1).preemptions, 0) << "the four GPUs of the other job are enough with the two free ones";
  EXPECT_EQ(bench.progress(2).preemptions, 1);
}

TEST(QueueingController, AReplicaTakesTheGpusOfAJobAndOlderJobsWaitForIt) {
  AdmissionBench bench({{at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 1, whole_gpus(4), seconds(1000)}},
                       5);
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.run_to(at_s(50));
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(60));
  EXPECT_EQ(bench.progress(0).preemptions + bench.progress(1).preemptions, 1);
  EXPECT_FALSE(bench.gang_of(2).valid()) << "the job that arrived before the replica does not ask for its GPUs";
  model::GangId replica;
  bench.truth().gangs.for_each([&](model::GangId id, const model::Gang& row) {
    if (row.service.valid()) replica = id;
  });
  ASSERT_TRUE(replica.valid());
  bench.cluster.submit(bind_to(bench.truth(), replica, {bench.gang_of(0).valid() ? 1u : 0u}));
  bench.run_to(at_s(66));
  EXPECT_TRUE(bench.gang_of(2).valid()) << "the replica is placed";
}

TEST(QueueingController, AnElasticJobStartsWithTheRoomThatThereIsAndComputesForLonger) {
  AdmissionBench bench({{at_s(0), 1, 1, whole_gpus(4), seconds(1000)},
                        {at_s(0), 1, 1, whole_gpus(6), seconds(1000)},
                        {at_s(0), 0, 8, whole_gpus(1), seconds(100), 2}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.run_to(at_s(59));
  EXPECT_EQ(bench.truth().gangs.at(bench.gang_of(2)).pods.size(), 8u) << "it asks for all pods for a minute";
  bench.run_to(at_s(61));
  const model::Gang waiting = bench.truth().gangs.at(bench.gang_of(2));
  EXPECT_EQ(waiting.pods.size(), 4u) << "one node has four free GPUs";
  EXPECT_EQ(waiting.spec.pods.count, 4);
  EXPECT_EQ(waiting.created_at, at_s(0)) << "it keeps its age";
  bench.bind(2, {0});
  bench.run_to(at_s(72));
  const Instant started = bench.progress(2).started_at;
  EXPECT_EQ(bench.progress(2).undersized_starts, 1);
  // The job restarts after 95 s, of which three checkpoints saved 90 s with half of its pods.
  bench.run_to(started + seconds(95) - milliseconds(50));
  bench.cluster.submit(action(model::EvictPod{bench.truth().gangs.at(bench.gang_of(2)).pods[0]}));
  bench.run_for(seconds(1));
  EXPECT_EQ(bench.progress(2).saved, seconds(45));
  EXPECT_EQ(bench.progress(2).lost, milliseconds(2500));
  bench.run_for(seconds(3));
  EXPECT_EQ(bench.truth().gangs.at(bench.gang_of(2)).pods.size(), 8u) << "a restart asks for all pods again";
  bench.run_to(at_s(1100));
  bench.bind(2, {0});
  const Instant bound = bench.cluster.now() - milliseconds(50);
  bench.run_to(bound + seconds(10) + seconds(55) + seconds(1));
  EXPECT_TRUE(bench.progress(2).has_ended()) << "the rest of 55 s with all pods";
}

TEST(QueueingController, AnElasticJobWaitsForItsLeast) {
  AdmissionBench bench({{at_s(0), 1, 1, whole_gpus(7), seconds(1000)},
                        {at_s(0), 1, 1, whole_gpus(7), seconds(1000)},
                        {at_s(0), 0, 8, whole_gpus(1), seconds(100), 2}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.run_to(at_s(100));
  EXPECT_EQ(bench.truth().gangs.at(bench.gang_of(2)).pods.size(), 8u);
}

TEST(QueueingController, AGangWithSomeBoundPodsTakesTheRoomOfTheOthers) {
  // Two pods of 8 GPUs in one zone: the first is bound, and a job holds the node that the second needs.
  AdmissionBench bench({{at_s(0), 0, 1, whole_gpus(8), seconds(1000)}, {at_s(20), 2, 2, whole_gpus(8), seconds(50)}});
  bench.run_to(at_s(1));
  bench.bind(0, {1});
  bench.run_to(at_s(21));
  const model::GangId gang = bench.gang_of(1);
  const model::PodId first = bench.truth().gangs.at(gang).pods.front();
  bench.cluster.submit(action(model::BindPods{gang, {{first, {0}}}}));
  bench.run_to(at_s(24));
  EXPECT_EQ(bench.progress(0).preemptions, 0) << "a placement has five seconds";
  bench.run_to(at_s(31));
  EXPECT_EQ(bench.progress(0).preemptions, 1);
  EXPECT_TRUE(bench.truth().pods.at(first).node.valid()) << "the bound pod stays";
}

TEST(QueueingController, AnElasticJobGivesUpThePodsWhoseGpusAreNeeded) {
  AdmissionBench bench({{at_s(0), 1, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 8, whole_gpus(1), seconds(1000), 2},
                        {at_s(100), 1, 1, whole_gpus(4), seconds(500)}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  const Instant began = bench.cluster.now() - milliseconds(50);
  bench.run_to(at_s(106));
  EXPECT_EQ(bench.progress(1).resizes, 1);
  EXPECT_EQ(bench.progress(1).restarts, 0);
  EXPECT_EQ(bench.progress(1).saved, seconds(90)) << "three checkpoints since " << began.since_start.count();
  const model::Gang& left = bench.truth().gangs.at(bench.gang_of(1));
  ASSERT_EQ(left.pods.size(), 4u);
  for (const model::PodId pod : left.pods) EXPECT_EQ(bench.truth().pods.at(pod).node, model::NodeId{1});
  bench.bind(2, {1});
  bench.run_to(at_s(120));
  EXPECT_TRUE(bench.progress(2).has_started());
  EXPECT_EQ(bench.progress(1).undersized_starts, 1) << "it computes again, with half of its pods";
}

TEST(QueueingController, AnElasticJobEndsIfItsLeastPodsAreNotLeft) {
  AdmissionBench bench({{at_s(0), 1, 1, whole_gpus(8), seconds(1000)},
                        {at_s(0), 0, 8, whole_gpus(1), seconds(1000), 6},
                        {at_s(100), 1, 1, whole_gpus(4), seconds(500)}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.run_to(at_s(106));
  EXPECT_EQ(bench.progress(1).preemptions, 1);
  EXPECT_EQ(bench.progress(1).resizes, 0);
}

TEST(QueueingController, ANarrowJobGrowsAfterACheckpointWhenNoGangWaits) {
  for (const bool has_waiting : {false, true}) {
    std::vector<Job> jobs = {{at_s(0), 1, 1, whole_gpus(4), seconds(90)},
                             {at_s(0), 1, 1, whole_gpus(8), seconds(9000)},
                             {at_s(0), 0, 8, whole_gpus(1), seconds(1000), 2}};
    if (has_waiting) jobs.push_back({at_s(70), 0, 1, whole_gpus(8), seconds(50)});
    AdmissionBench bench(jobs);
    bench.run_to(at_s(1));
    bench.bind(0, {0});
    bench.bind(1, {1});
    bench.run_to(at_s(62));
    bench.bind(2, {0});
    EXPECT_EQ(bench.truth().gangs.at(bench.gang_of(2)).pods.size(), 4u);
    // Job 0 ends after 101 s, and the elastic job has its first checkpoint a second later.
    bench.run_to(at_s(101));
    EXPECT_EQ(bench.progress(2).resizes, 0);
    bench.run_to(at_s(106));
    EXPECT_EQ(bench.progress(2).resizes, has_waiting ? 0 : 1) << has_waiting;
    EXPECT_EQ(bench.truth().gangs.at(bench.gang_of(2)).pods.size(), has_waiting ? 4u : 8u);
    EXPECT_LT(bench.progress(2).lost, seconds(5)) << "little work is lost just after a checkpoint";
  }
}

TEST(QueueingController, AJobDoesNotGrowOntoANodeWhoseTerminationIsOnItsWay) {
  AdmissionBench bench({{at_s(0), 1, 1, whole_gpus(4), seconds(90)},
                        {at_s(0), 1, 1, whole_gpus(8), seconds(9000)},
                        {at_s(0), 0, 8, whole_gpus(1), seconds(1000), 2}});
  bench.run_to(at_s(1));
  bench.bind(0, {0});
  bench.bind(1, {1});
  bench.run_to(at_s(62));
  bench.bind(2, {0});
  // The queueing controller looks at the cluster at 105 s, between the decision to terminate the node and its effect.
  bench.run_to(at_s(105) - milliseconds(1));
  bench.cluster.submit(action(model::TerminateNode{{0}}));
  bench.run_to(at_s(105));
  EXPECT_EQ(bench.progress(2).resizes, 0);
}

/// Returns a configuration with two nodes of eight GPUs of kind 0 and one of kind 1, each with 32 CPUs, and one class
/// of jobs that may use both kinds.
ClusterConfig with_two_kinds(std::vector<Job> jobs) {
  ClusterConfig config = AdmissionBench::config_of(std::move(jobs), {});
  auto catalog = std::make_shared<model::Catalog>(*config.catalog);
  catalog->gpu_kinds.resize(2, "other");
  catalog->instance_types = {{.name = "small", .cpu_milli = 32'000}};
  catalog->eligibility.pod_classes = {{.requests = {.cpu_milli = 10'000}}};
  for (model::Offering& offering : catalog->offerings) offering.type = {0};
  model::Offering other = catalog->offerings[0];
  other.gpu = {1};
  catalog->offerings.push_back(other);
  const model::OfferingId id{static_cast<std::uint32_t>(catalog->offerings.size() - 1)};
  config.catalog = catalog;
  config.existing.push_back({.offering = id, .count = 1, .pool = {}});
  config.job_classes[0].other_gpus = {{1}};
  config.job_classes[0].pod_class = {0};
  return config;
}

TEST(QueueingController, AJobAsksForTheFirstKindOfGpuThatHasRoom) {
  Bench bench(with_two_kinds({{at_s(1), 0, 1, whole_gpus(8), seconds(1000)},
                              {at_s(2), 0, 1, whole_gpus(8), seconds(1000)},
                              {at_s(10), 0, 1, whole_gpus(8), seconds(1000)},
                              {at_s(20), 0, 1, whole_gpus(8), seconds(1000)}}));
  const auto gang_of = [&](std::uint32_t job) {
    model::GangId found;
    bench.truth().gangs.for_each([&](model::GangId id, const model::Gang& row) {
      if (!row.service.valid() && row.ordinal == job) found = id;
    });
    return found;
  };
  const auto gpu_of = [&](std::uint32_t job) { return bench.truth().gangs.at(gang_of(job)).spec.pods.gpu; };
  bench.run_to(at_s(3));
  EXPECT_EQ(gpu_of(0), model::GpuKindId{0});
  bench.cluster.submit(bind_to(bench.truth(), gang_of(0), {0}));
  bench.cluster.submit(bind_to(bench.truth(), gang_of(1), {1}));
  bench.run_to(at_s(11));
  EXPECT_EQ(gpu_of(2), model::GpuKindId{1}) << "both nodes of its first kind are full";
  bench.cluster.submit(bind_to(bench.truth(), gang_of(2), {2}));
  bench.run_to(at_s(40));
  EXPECT_EQ(gpu_of(3), model::GpuKindId{0}) << "without room, it asks for the first kind";
}

TEST(QueueingController, AKindOfGpuWithoutCpuHasNoRoom) {
  Bench bench(
      with_two_kinds({{at_s(1), 0, 4, whole_gpus(1), seconds(1000)}, {at_s(2), 0, 3, whole_gpus(1), seconds(1000)}}));
  model::GangId wide, small;
  bench.run_to(at_s(3));
  bench.truth().gangs.for_each(
      [&](model::GangId id, const model::Gang& row) { (row.spec.pods.count == 4 ? wide : small) = id; });
  bench.cluster.submit(bind_to(bench.truth(), wide, {0}));
  bench.run_to(at_s(4));
  EXPECT_EQ(bench.cluster.meter(at_s(4)).binds_refused_full, 1) << "a node has CPU for three pods";
  bench.cluster.submit(bind_to(bench.truth(), small, {0}));
  bench.run_to(at_s(5));
  EXPECT_EQ(bench.truth().nodes.at({0}).available->cpu_milli, 2'000);
  bench.run_to(at_s(1'100));
  EXPECT_EQ(bench.truth().nodes.at({0}).available->cpu_milli, 32'000) << "a job that ended gives its CPU back";
}

TEST(QueueingController, PodsRunOnlyOnNodesWithTheirLabels) {
  ClusterConfig config = with_two_kinds({{at_s(1), 0, 1, whole_gpus(1), seconds(1000)}});
  auto catalog = std::make_shared<model::Catalog>(*config.catalog);
  catalog->eligibility.pod_classes[0].node_classes = {false, true};
  config.catalog = catalog;
  config.existing[0].node_class = {0};
  config.existing[1].node_class = {1};
  Bench bench(config);
  bench.run_to(at_s(3));
  model::GangId job;
  bench.truth().gangs.for_each([&](model::GangId id, const model::Gang&) { job = id; });
  EXPECT_EQ(bench.truth().gangs.at(job).spec.pods.gpu, model::GpuKindId{1}) << "only these nodes have the label";
  bench.cluster.submit(bind_to(bench.truth(), job, {2}));
  bench.run_to(at_s(4));
  EXPECT_EQ(bench.truth().gangs.at(job).phase, model::Gang::Phase::starting);
}

}  // namespace
}  // namespace capstan::sim
