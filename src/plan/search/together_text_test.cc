#include "plan/search/together_text.h"

#include <gtest/gtest.h>

#include "plan/testing/sample_specs.h"
#include "scenario/scenario.h"

namespace capstan::plan {
namespace {

/// Two services of the same load on the same machines, with 2 to 6 replicas each.
struct TwoFleets {
  PlanSpec spec{};
  LoadFacts load{};
  std::vector<FleetCandidate> candidates{};
  std::vector<ServicePlan> plans{};
  std::vector<ServiceFleet> fleets{};

  explicit TwoFleets(PlanSpec one) : spec(std::move(one)) {
    spec.services.push_back(spec.services[0]);
    spec.services[1].name = "second";
    load = count_load(spec.services[0]).value();
    candidates = fleet_candidates(spec, spec.services[0], load, {}).value();
    for (const ServiceSpec& service : spec.services) {
      const std::size_t roles = candidates.front().needs.size();
      const FleetOption fleet{.candidate = &candidates.front(),
                              .minimum = std::vector<ReplicaCount>(roles, 2),
                              .maximum = std::vector<ReplicaCount>(roles, 6)};
      ServicePlan plan{.service = service.name};
      for (const RoleNeed& need : candidates.front().needs) {
        plan.roles.push_back({.role = need.role,
                              .engine = fleet.candidate->engine,
                              .machine = fleet.candidate->machine,
                              .minimum = 2,
                              .maximum = 6});
      }
      plans.push_back(std::move(plan));
      fleets.push_back({&service, &load, fleet});
    }
  }

  scenario::Scenario read() const {
    const std::string text = together_text(spec, plans, fleets);
    auto scenario = scenario::parse_scenario(text, "together.yaml");
    if (!scenario) {
      ADD_FAILURE() << scenario.error().list.front().text() << "\n" << text;
      return {};
    }
    return *scenario;
  }
};

TEST(TogetherText, HasAllServicesInOnePool) {
  TwoFleets two(sample_specs::small_spec());
  two.plans[0].spot_ppm = 500'000;
  const scenario::Scenario scenario = two.read();
  ASSERT_EQ(scenario.catalog->services.size(), 2u);
  EXPECT_EQ(scenario.catalog->services[1].name, "second");
  EXPECT_EQ(scenario.catalog->services[1].max_replicas, 6);
  ASSERT_EQ(scenario.catalog->pools.size(), 2u);
  EXPECT_EQ(scenario.catalog->pools[0].limits.gpus, 10)
      << "4 GPUs of the minima, half of the other 8, and 2 while a zone is lost";
  EXPECT_EQ(scenario.catalog->pools[1].limits.gpus, 4);
  EXPECT_EQ(scenario.catalog->pools[1].name, "h100-spot");
  EXPECT_EQ(scenario.endpoints[1].load.duration, two.load.length);
}

TEST(TogetherText, HasTheQueuesOfTheTenants) {
  TwoFleets two(sample_specs::small_spec());
  two.spec.tenants = {{.name = "production"}, {.name = "second-team", .gpu_limit = 5}};
  two.spec.services[1].tenant = "second-team";
  const scenario::Scenario scenario = two.read();
  ASSERT_EQ(scenario.catalog->queues.size(), 2u);
  EXPECT_FALSE(scenario.catalog->queues[0].gpus.limit);
  EXPECT_EQ(scenario.catalog->queues[1].gpus.limit, whole_gpus(5));
  EXPECT_EQ(scenario.catalog->services[1].workload.queue, model::QueueId{1});
}

TEST(TogetherText, HasTheJobsOfTheTenantsWithTheirPriorities) {
  TwoFleets two(sample_specs::small_spec());
  TenantJobs jobs{.name = "tune", .checkpoint_every = std::chrono::minutes(5)};
  jobs.load.sizes = {{.pods = 4, .gpus_per_pod = 1, .min_pods = 2}};
  jobs.load.batches = {.count = 2, .at = {}, .interval = std::chrono::minutes(10)};
  two.spec.tenants.push_back(
      {.name = "lab", .kind = TenantSpec::Kind::training, .priority = 50, .gpu_quota = 4, .jobs = {jobs}});
  const scenario::Scenario scenario = two.read();
  ASSERT_EQ(scenario.jobs.size(), 1u);
  const scenario::JobSpec& row = scenario.jobs[0];
  EXPECT_EQ(row.team, "lab");
  EXPECT_EQ(row.job_class.priority, 50);
  EXPECT_TRUE(row.job_class.preemptible);
  EXPECT_EQ(row.job_class.queue, model::QueueId{1});
  EXPECT_EQ(row.job_class.required_level, model::Level(model::TopologyLevel::zone)) << "a node has one GPU";
  EXPECT_EQ(row.load.sizes[0].min_pods, 2);
  EXPECT_EQ(row.load.until, two.load.length);
  EXPECT_EQ(scenario.workload().priority, 100);
  two.spec.cluster.gang_scheduler = GangScheduler::none;
  EXPECT_FALSE(two.read().jobs.at(0).job_class.preemptible) << "the default scheduler knows no queues";
}

TEST(TogetherText, HasThePeakOfArrivalsOnlyIfTheyHaveOne) {
  for (const double peak : {0.0, 9.0}) {
    TwoFleets two(sample_specs::small_spec());
    TenantJobs jobs{.name = "eval", .checkpoint_every = {}};
    jobs.load.sizes = {{.pods = 1, .gpus_per_pod = 1, .min_pods = 1}};
    jobs.load.rate = {.per_hour = 6, .peak_per_hour = peak, .peak_at = std::chrono::hours(3)};
    two.spec.tenants.push_back({.name = "lab", .kind = TenantSpec::Kind::batch, .gpu_quota = 4, .jobs = {jobs}});
    const scenario::Scenario scenario = two.read();
    ASSERT_EQ(scenario.jobs.size(), 1u) << peak;
    EXPECT_EQ(scenario.jobs[0].load.rate.per_hour, 6);
    EXPECT_EQ(scenario.jobs[0].load.rate.peak_per_hour, peak);
  }
}

TEST(TogetherText, ScalesEachServiceByItsOwnScaler) {
  TwoFleets two(sample_specs::disaggregated_spec());
  two.fleets[1].fleet.scale = Yaml::map({{"prefill", Yaml::map({{"policy", "fixed"}, {"replicas", 2}})},
                                         {"decode", Yaml::map({{"policy", "fixed"}, {"replicas", 3}})}});
  const scenario::Scenario scenario = two.read();
  ASSERT_EQ(scenario.policies.front().policies.scale.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<decide::scale::Capstan>(scenario.policies.front().policies.scale[1]));
  EXPECT_TRUE(std::holds_alternative<decide::scale::Fixed>(scenario.policies.front().policies.scale[3]));
}

TEST(TogetherText, UsesOnlyNodesThatExistWithoutAProvisioner) {
  PlanSpec spec = sample_specs::small_spec();
  spec.cluster.provisioner = Provisioner::none;
  spec.cluster.machines[0].existing = 8;
  const scenario::Scenario scenario = TwoFleets(std::move(spec)).read();
  EXPECT_TRUE(scenario.catalog->pools.empty());
  std::int64_t nodes = 0;
  for (const sim::ExistingNodes& existing : scenario.cluster.existing) nodes += existing.count;
  EXPECT_EQ(nodes, 8);
}

}  // namespace
}  // namespace capstan::plan
