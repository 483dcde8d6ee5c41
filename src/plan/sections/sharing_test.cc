#include <gtest/gtest.h>

#include <algorithm>

#include "plan/sections/sections.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

std::string sharing_text(const Section& section, std::string_view file) {
  for (const Manifest& manifest : section.manifests) {
    if (manifest.file == file) return manifest.body.document();
  }
  return {};
}

TEST(PlanSharing, WithoutSmallModelsReplicasHaveWholeGpus) {
  const Section section = sharing_section(testing::chat_plan().facts());
  EXPECT_EQ(section.answer, "Whole GPUs: no service of the plan can share one.");
  ASSERT_EQ(section.statements.size(), 1U);
  EXPECT_EQ(section.statements[0].value, "4 whole GPUs");
  EXPECT_TRUE(section.manifests.empty());
  EXPECT_TRUE(section.not_simulated.empty());
}

TEST(PlanSharing, SlicesAreConfiguredOnTheNodesOfTheirPool) {
  const Section section = sharing_section(testing::sliced_plan().facts());
  EXPECT_EQ(section.answer, "Small models run on MIG slices, each with memory and compute of its own.");
  EXPECT_EQ(section.statements[1].value, "one MIG slice 3g.40gb, 2 on a GPU");
  ASSERT_EQ(section.not_simulated.size(), 1U);
  EXPECT_TRUE(section.not_simulated[0].starts_with("the power and the host links that slices of one GPU share, for "));
  EXPECT_NE(section.not_simulated[0].find(" and "), std::string::npos) << section.not_simulated[0];
  const std::string config = sharing_text(section, "sharing/mig-config.yaml");
  EXPECT_NE(config.find("\n      h100-3g-40gb:\n"), config.npos) << config;
  EXPECT_NE(config.find("\"3g.40gb\": 2\n"), config.npos) << config;
  EXPECT_NE(config.find("\"1g.10gb\": 7\n"), config.npos) << config;
  const std::string values = sharing_text(section, "sharing/values/gpu-operator-mig.yaml");
  EXPECT_NE(values.find("strategy: mixed"), values.npos) << values;
}

TEST(PlanSharing, OneCommandInstallsTheOperatorWithAllItsValues) {
  const Section section = sharing_section(testing::sliced_plan().facts());
  const std::string& helm = section.apply.back().command;
  EXPECT_NE(helm.find("--values replicas/values/gpu-operator.yaml --values sharing/values/gpu-operator-mig.yaml"),
            helm.npos)
      << helm;
}

TEST(PlanSharing, GkeDividesGpusByItsNodePools) {
  testing::SamplePlan plan = testing::sliced_plan();
  plan.spec.cluster.cloud = Cloud::gcp;
  const Section section = sharing_section(plan.facts());
  EXPECT_TRUE(section.manifests.empty());
  EXPECT_TRUE(section.apply.empty());
  EXPECT_EQ(section.statements[3].value, "gpu-partition-size=3g.40gb");
}

TEST(PlanSharing, SmallModelsWithoutStepTimesOfSlicesKeepWholeGpus) {
  testing::SamplePlan plan = testing::sample_plan("small");
  for (const char* name : {"mail", "tags"}) {
    ServiceSpec& service = testing::add_sample_service(
        plan, name, {testing::sample_role(testing::sample_machine("p5.4xlarge", "h100_sxm", 1), 1, 1, 2)});
    service.may_share_gpu = true;
    service.sharing_memory_gib = service.name == "mail" ? 30 : 8;
  }
  const Section section = sharing_section(plan.facts());
  EXPECT_EQ(section.answer, "Small models keep whole GPUs until the step times of their slices are known.");
  EXPECT_EQ(section.statements[0].value, "1 whole GPU; MIG 3g.40gb once its step times are known");
  const std::string config = sharing_text(section, "sharing/mig-config.yaml");
  // One 3g.40gb leaves room for four 1g.10gb on the other half of the memory.
  EXPECT_NE(config.find("h100-small-models:"), config.npos) << config;
  EXPECT_NE(config.find("\"3g.40gb\": 1\n          \"1g.10gb\": 4\n"), config.npos) << config;
}

TEST(PlanSharing, BatchWorkOnGpusWithoutMigSharesThemByMps) {
  const Section section = sharing_section(testing::batch_plan().facts());
  EXPECT_EQ(section.statements[0].value, "1/2 of a GPU by MPS");
  EXPECT_EQ(section.not_simulated, std::vector<std::string>{"tags next to other replicas on its GPU"});
  const auto bound = std::ranges::find(section.statements, "nodes and cost under MPS", &Statement::name);
  ASSERT_NE(bound, section.statements.end());
  EXPECT_TRUE(bound->why.ends_with("with 2 replicas on a GPU, as few as 1/2 of the GPUs are needed")) << bound->why;
  const std::string config = sharing_text(section, "sharing/device-plugin.yaml");
  EXPECT_NE(config.find("l40s-mps: |"), config.npos) << config;
  EXPECT_NE(config.find("replicas: 2"), config.npos) << config;
}

TEST(PlanSharing, TimeSlicingIsAnOptionForBatchWorkAlone) {
  const auto of_time_slicing = [](const Section& section) {
    const auto found = std::ranges::find(section.statements, "time-slicing", &Statement::name);
    return found == section.statements.end() ? Statement{} : *found;
  };
  const Section batch = sharing_section(testing::batch_plan().facts());
  EXPECT_EQ(of_time_slicing(batch).value, "an option for batch work");
  const std::string config = sharing_text(batch, "sharing/device-plugin.yaml");
  EXPECT_NE(config.find("l40s-time-slicing: |"), config.npos) << config;
  EXPECT_NE(config.find("failRequestsGreaterThanOne: true"), config.npos) << config;
  const auto command = std::ranges::find_if(batch.apply, &ApplyCommand::is_optional);
  ASSERT_NE(command, batch.apply.end());
  EXPECT_EQ(command->command,
            "kubectl label nodes --selector capstan.dev/pool=l40s "
            "nvidia.com/device-plugin.config=l40s-time-slicing --overwrite");
  testing::SamplePlan serving = testing::batch_plan();
  for (TenantSpec& tenant : serving.spec.tenants) tenant.kind = TenantSpec::Kind::production;
  EXPECT_EQ(of_time_slicing(sharing_section(serving.facts())).value, "not used");
}

TEST(PlanSharing, APoolWithPodsOfWholeGpusSharesNone) {
  testing::SamplePlan plan = testing::batch_plan();
  testing::add_sample_service(plan, "mail", {plan.services[0].roles[0]});
  const Section section = sharing_section(plan.facts());
  EXPECT_EQ(section.statements[0].value, "1 whole GPU");
  EXPECT_EQ(section.statements[0].why,
            "MPS divides all GPUs of a node, and the pool l40s also runs pods that need whole GPUs");
  EXPECT_EQ(sharing_text(section, "sharing/device-plugin.yaml"), "");
}

}  // namespace
}  // namespace capstan::plan
