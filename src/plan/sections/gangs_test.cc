#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "plan/sections/sections.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

Statement gang_answer(const Section& section, std::string_view name) {
  const auto found = std::ranges::find(section.statements, name, &Statement::name);
  EXPECT_NE(found, section.statements.end()) << name;
  return found == section.statements.end() ? Statement() : *found;
}

std::vector<std::string> on_page(const Section& section) {
  std::vector<std::string> shown;
  for (const Manifest& manifest : section.manifests) {
    if (manifest.is_on_page) shown.push_back(manifest.file);
  }
  return shown;
}

TEST(PlanGangs, OnePodWithAllGpusOfANodeNeedsNoGang) {
  const Section section = gangs_section(testing::azure_plan().facts());
  EXPECT_EQ(section.answer, "No gang scheduler: every replica is one pod, which is placed whole or not at all.");
  EXPECT_EQ(gang_answer(section, "gang scheduling").value, "not needed");
  EXPECT_EQ(gang_answer(section, "scheduler").value, "the default scheduler");
  EXPECT_TRUE(on_page(section).empty());
}

TEST(PlanGangs, AReplicaOfSeveralPodsNeedsOne) {
  const Section section = gangs_section(testing::gang_plan().facts());
  EXPECT_EQ(section.answer, "KAI starts the pods of a replica together, near each other.");
  EXPECT_EQ(gang_answer(section, "gang scheduling").why,
            "a replica of large (2 pods of 8 GPUs) serves only when all its pods run; pods that start one by one can "
            "each hold GPUs and wait for the others");
  EXPECT_EQ(gang_answer(section, "placement of a replica of large").value, "within one topology.kubernetes.io/zone");
  EXPECT_EQ(on_page(section), (std::vector<std::string>{"gangs/kai/queues.yaml", "gangs/kai/topology.yaml"}));
}

TEST(PlanGangs, AReplicaThatFitsOnOneNodeStaysThere) {
  testing::SamplePlan plan = testing::gang_plan();
  plan.services[0].roles[0].engine.tp = 8;
  const Statement found = gang_answer(gangs_section(plan.facts()), "placement of a replica of large");
  EXPECT_EQ(found.value, "within one kubernetes.io/hostname");
  EXPECT_TRUE(found.why.starts_with("one node has the GPUs of all pods of a replica, as simulated")) << found.why;
}

TEST(PlanGangs, TheExampleOnThePageIsOfTheChosenScheduler) {
  testing::SamplePlan plan = testing::gang_plan();
  plan.spec.cluster.gang_scheduler = GangScheduler::kueue;
  EXPECT_EQ(on_page(gangs_section(plan.facts())),
            (std::vector<std::string>{"gangs/kueue/topology.yaml", "gangs/kueue/queues.yaml"}));
  plan.spec.cluster.gang_scheduler = GangScheduler::none;
  EXPECT_EQ(gangs_section(plan.facts()).answer,
            "Replicas are gangs, but the spec names no gang scheduler. Install KAI or Kueue, or allow one of them.");
}

TEST(PlanGangs, OneSchedulersQueuesAreChosen) {
  testing::SamplePlan plan = testing::gang_plan();
  for (const auto& [scheduler, chosen] :
       {std::pair(GangScheduler::kai, "kai"), std::pair(GangScheduler::kueue, "kueue"),
        std::pair(GangScheduler::none, "")}) {
    plan.spec.cluster.gang_scheduler = scheduler;
    const Section section = gangs_section(plan.facts());
    std::set<std::string> options, chosen_options;
    for (const Manifest& manifest : section.manifests) {
      if (manifest.alternative.choice != "queues") continue;
      options.insert(manifest.alternative.option);
      if (manifest.alternative.is_chosen) chosen_options.insert(manifest.alternative.option);
    }
    EXPECT_EQ(options, (std::set<std::string>{"capstan", "kai", "kueue"}));
    EXPECT_EQ(chosen_options, *chosen == 0 ? std::set<std::string>{} : std::set<std::string>{chosen});
  }
}

TEST(PlanGangs, AnotherSchedulerIsNotCalledKai) {
  testing::SamplePlan plan = testing::disaggregated_plan();
  plan.spec.cluster.gang_scheduler = GangScheduler::kueue;
  EXPECT_EQ(
      gang_answer(gangs_section(plan.facts()), "quota of production").why,
      "the spec states it; its services hold 40 at their maximum, and it borrows the 8 above the quota, and Kueue "
      "may take them back");
  plan.spec.cluster.gang_scheduler = GangScheduler::none;
  for (const Statement& statement : gangs_section(plan.facts()).statements) {
    EXPECT_EQ(statement.why.find("KAI may"), std::string::npos) << statement.why;
    EXPECT_EQ(statement.why.find("kai.scheduler/"), std::string::npos) << statement.why;
  }
}

TEST(PlanGangs, AnAssumedSchedulerIsCalledAssumed) {
  testing::SamplePlan plan = testing::gang_plan();
  EXPECT_EQ(gang_answer(gangs_section(plan.facts()), "scheduler").evidence, Evidence::stated);
  plan.spec.defaults.push_back({.path = "cluster.gang_scheduler"});
  EXPECT_EQ(gang_answer(gangs_section(plan.facts()), "scheduler").evidence, Evidence::assumed);
}

TEST(PlanGangs, TenantsShareByQuotaAndPriority) {
  const Section section = gangs_section(testing::disaggregated_plan().facts());
  EXPECT_EQ(section.answer, "No gangs: every replica is one pod. KAI shares the GPUs between 2 tenants by queue.");
  EXPECT_EQ(gang_answer(section, "quota of production").why,
            "the spec states it; its services hold 40 at their maximum, and KAI may reclaim the 8 above the quota");
  EXPECT_EQ(gang_answer(section, "quota of training").value, "8 GPUs, at most 16");
  EXPECT_EQ(gang_answer(section, "preemption").value, "production (100), then training (50)");
  EXPECT_TRUE(section.not_simulated.empty()) << "the tenant has no jobs";
}

}  // namespace
}  // namespace capstan::plan
