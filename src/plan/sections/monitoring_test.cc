#include <gtest/gtest.h>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

TEST(MonitoringSection, EndsWithAKillSwitchForEveryScalerOfEveryRole) {
  PlanSpec spec;
  spec.namespace_ = "llm";
  spec.services.push_back({.name = "chat", .is_disaggregated = true, .slo = {.ttft = std::chrono::seconds(2)}});
  ServicePlan service{.service = "chat"};
  for (const model::Role role : {model::Role::prefill, model::Role::decode}) {
    RoleFleet fleet{.role = role, .minimum = 2, .maximum = 8, .peak_ready = 5};
    fleet.engine.gpu = "h100_sxm";
    service.roles.push_back(fleet);
  }
  const Section section = monitoring_section({spec, {service}});
  EXPECT_EQ(section.commands.size(), 8u);
  EXPECT_EQ(section.commands[1],
            "kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"halt\": true}}'");
  EXPECT_EQ(section.commands[2],
            "kubectl -n llm annotate scaledobject chat-prefill autoscaling.keda.sh/paused-replicas=5 --overwrite");
  EXPECT_EQ(section.commands.back(), "kubectl -n llm scale deployment chat-decode --replicas 5");
}

TEST(MonitoringSection, WritesRulesAndADashboardForEachService) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}, {.name = "code"}};
  const std::vector<ServicePlan> services = {{.service = "chat"}, {.service = "code"}};
  const Section section = monitoring_section({spec, services});
  ASSERT_EQ(section.manifests.size(), 4u);
  EXPECT_EQ(section.manifests[0].file, "monitoring/chat-rules.yaml");
  EXPECT_EQ(section.manifests[3].file, "monitoring/code-dashboard.yaml");
  EXPECT_NE(section.manifests[3].body.document().find("grafana_dashboard: \"1\""), std::string::npos);
}

}  // namespace
}  // namespace capstan::plan
