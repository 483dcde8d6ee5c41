#include <gtest/gtest.h>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

TEST(MonitoringSection, WritesRulesAndADashboardForEachService) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  const std::vector<ServicePlan> services = {{.service = "chat"}, {.service = "code"}};
  const Section section = monitoring_section({spec, services});
  ASSERT_EQ(section.manifests.size(), 7u);
  EXPECT_EQ(section.manifests[0].file, "monitoring/chat-rules.yaml");
  EXPECT_EQ(section.manifests[3].file, "monitoring/code-dashboard.yaml");
  EXPECT_NE(section.manifests[3].body.document().find("grafana_dashboard: \"1\""), std::string::npos);
  EXPECT_EQ(section.manifests[4].file, "monitoring/cluster-rules.yaml");
  EXPECT_EQ(section.manifests[4].body.document().find("service:"), std::string::npos);
  EXPECT_EQ(section.manifests[5].file, "monitoring/karpenter-metrics.yaml");
}

TEST(MonitoringSection, SaysOnThePageWhatToWatchAndWhatHasNoSource) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  const std::vector<ServicePlan> services = {{.service = "chat"}, {.service = "code"}};
  std::vector<PageNote> notes = monitoring_section({spec, services}).notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[1].text, "BudgetExceeded: the price of a machine is unknown") << "the sample has no machines";
  EXPECT_TRUE(notes[0].text.starts_with("Waiting requests by replica; KV cache in use by replica; ")) << notes[0].text;
  spec.cluster.cloud = Cloud::azure;
  notes = monitoring_section({spec, services}).notes;
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[1].name, "left out");
  EXPECT_NE(notes[1].text.find("GPUs of the node pool, KarpenterEndsRunningNodes: AKS runs Karpenter itself"),
            std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
