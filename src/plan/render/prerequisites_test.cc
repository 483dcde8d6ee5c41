#include "plan/render/prerequisites.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/sections/sections.h"
#include "plan/sections/test_services.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

using Names = std::vector<std::string>;

Plan plan_with_sections(const PlanFacts& facts) {
  Plan plan;
  plan.spec = facts.spec;
  plan.services = facts.services;
  for (const auto section :
       {nodes_section, gangs_section, replicas_section, warm_pool_section, workload_section, monitoring_section})
    plan.sections.push_back(section(facts));
  return plan;
}

const Prerequisite* find_part(const std::vector<Prerequisite>& needed, std::string_view part) {
  const auto found = std::ranges::find(needed, part, &Prerequisite::part);
  return found == needed.end() ? nullptr : &*found;
}

TEST(Prerequisites, AreTheComponentsOfTheChosenOptions) {
  testing::PlanSample sample = testing::gang_sample();
  sample.services.front().scaler = ScalerKind::scaled_object;
  EXPECT_EQ(needed_components(plan_with_sections(sample.facts())),
            (Names{"Karpenter", "KAI", "KEDA", "Prometheus Operator", "LeaderWorkerSet",
                   "access to meta-llama/Llama-3.3-70B-Instruct"}));
  sample.services.front().scaler = ScalerKind::capstan;
  sample.spec.cluster.gang_scheduler = GangScheduler::kueue;
  EXPECT_EQ(needed_components(plan_with_sections(sample.facts())),
            (Names{"Karpenter", "Kueue", "Capstan", "Prometheus Operator", "LeaderWorkerSet",
                   "access to meta-llama/Llama-3.3-70B-Instruct"}));
}

TEST(Prerequisites, NameTheDefinitionAndHowToInstallIt) {
  testing::PlanSample sample = testing::gang_sample();
  sample.services.front().scaler = ScalerKind::capstan;
  const std::vector<Prerequisite> needed = prerequisites(plan_with_sections(sample.facts()));
  for (const char* part :
       {"nodepools.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws", "queues.scheduling.run.ai",
        "topologies.kai.scheduler", "leaderworkersets.leaderworkerset.x-k8s.io", "fleetpolicies.capstan.dev",
        "inferencescalers.capstan.dev", "prometheusrules.monitoring.coreos.com"}) {
    ASSERT_NE(find_part(needed, part), nullptr) << part;
    EXPECT_FALSE(find_part(needed, part)->remedy.empty()) << part;
  }
  EXPECT_EQ(find_part(needed, "scaledobjects.keda.sh"), nullptr) << "the plan does not apply it";
  EXPECT_EQ(find_part(needed, "capacitybuffers.autoscaling.x-k8s.io"), nullptr) << "it is optional";
}

TEST(Prerequisites, OfSharedGpusAreKarpentersOverlays) {
  const auto needed = prerequisites(plan_with_sections(testing::sliced_plan().facts()));
  const Prerequisite* overlays = find_part(needed, "nodeoverlays.karpenter.sh");
  ASSERT_NE(overlays, nullptr);
  EXPECT_EQ(overlays->remedy, "Karpenter with the chart value settings.featureGates.nodeOverlay=true");
}

TEST(Prerequisites, AreTestedBeforeAnythingIsApplied) {
  const std::string script = prerequisite_check(plan_with_sections(testing::gang_sample().facts()));
  EXPECT_NE(script.find("kubectl get customresourcedefinition nodepools.karpenter.sh >/dev/null 2>&1 || missing "
                        "'Karpenter (nodepools.karpenter.sh)' 'https://karpenter.sh/docs/getting-started/'\n"),
            script.npos)
      << script;
  EXPECT_TRUE(script.ends_with("[ \"$absent\" -eq 0 ] || { echo \"nothing was applied\" >&2; exit 1; }\n")) << script;
}

TEST(Prerequisites, AreProgramsAndVariablesToo) {
  testing::SamplePlan plan = testing::azure_plan();
  plan.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  const std::vector<Prerequisite> needed = prerequisites(plan_with_sections(plan.facts()));
  for (const char* name : {"kubectl", "az", "RESOURCE_GROUP"})
    EXPECT_NE(std::ranges::find(needed, name, &Prerequisite::name), needed.end()) << name;
  EXPECT_EQ(std::ranges::find(needed, "gcloud", &Prerequisite::name), needed.end());
}

TEST(Prerequisites, AreInstalledAtFixedVersions) {
  testing::PlanSample sample = testing::gang_sample();
  sample.services.front().scaler = ScalerKind::scaled_object;
  const auto needed = prerequisites(plan_with_sections(sample.facts()));
  for (const char* part : {"scaledobjects.keda.sh", "queues.scheduling.run.ai"}) {
    ASSERT_NE(find_part(needed, part), nullptr) << part;
    EXPECT_NE(find_part(needed, part)->remedy.find(" --version "), std::string::npos) << part;
  }
}

TEST(Prerequisites, AreTheSecretOfAGatedModelToo) {
  testing::PlanSample sample = testing::gang_sample();
  ServiceSpec& service = sample.spec.services.front();
  const auto secret = [&](std::string_view name) {
    const auto needed = prerequisites(plan_with_sections(sample.facts()));
    const Prerequisite* found = find_part(needed, "secret " + std::string(name) + " in " + sample.spec.namespace_);
    return found == nullptr ? std::string() : found->test;
  };
  EXPECT_EQ(secret("hugging-face"), "kubectl --namespace llm get secret hugging-face >/dev/null 2>&1");
  service.served_model_name = "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic";
  EXPECT_EQ(secret("hugging-face"), "") << "this model is not gated";
  service.model_secret = "hub-token";
  service.has_stated_secret = true;
  EXPECT_EQ(secret("hub-token"), "kubectl --namespace llm get secret hub-token >/dev/null 2>&1");
}

TEST(Prerequisites, TritonNeedsAVolumeWithItsModels) {
  testing::PlanSample sample = testing::gang_sample(Engine::triton);
  const std::string service = sample.spec.services.front().name;
  const std::vector<Prerequisite> needed = prerequisites(plan_with_sections(sample.facts()));
  const Prerequisite* volume =
      find_part(needed, "persistentvolumeclaim " + service + "-models in " + sample.spec.namespace_);
  ASSERT_NE(volume, nullptr);
  EXPECT_EQ(volume->name, "model repository of " + service);
  EXPECT_FALSE(volume->remedy.empty());
  const std::vector<Prerequisite> other = prerequisites(plan_with_sections(testing::gang_sample().facts()));
  EXPECT_TRUE(std::ranges::none_of(other, [](const Prerequisite& part) { return part.part.contains("-models"); }));
}

TEST(Prerequisites, APlanWithoutCommandsNeedsNothing) { EXPECT_EQ(prerequisite_check({}), ""); }

}  // namespace
}  // namespace capstan::plan
