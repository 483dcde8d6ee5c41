#include <gtest/gtest.h>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

TEST(MonitoringSection, WritesRulesAndADashboardForEachService) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  const std::vector<ServicePlan> services = {{.service = "chat"}, {.service = "code"}};
  const Section section = monitoring_section({spec, services});
  ASSERT_EQ(section.manifests.size(), 5u);
  EXPECT_EQ(section.manifests[0].file, "monitoring/chat-rules.yaml");
  EXPECT_EQ(section.manifests[3].file, "monitoring/code-dashboard.yaml");
  EXPECT_NE(section.manifests[3].body.document().find("grafana_dashboard: \"1\""), std::string::npos);
  EXPECT_EQ(section.manifests[4].file, "monitoring/cluster-rules.yaml");
  EXPECT_EQ(section.manifests[4].body.document().find("service:"), std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
