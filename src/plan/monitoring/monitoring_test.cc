#include <gtest/gtest.h>

#include <set>

#include "plan/monitoring/service_monitoring.h"
#include "plan/monitoring/template_values.h"
#include "promql/parser.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// A service with a fleet, on a cluster with Karpenter and KAI and a limit of cost.
struct Sample {
  PlanSpec spec{};
  ServiceSpec service{};
  ServicePlan fleet{};

  explicit Sample(Engine engine) {
    spec.namespace_ = "llm";
    spec.limits.per_hour = MicroUsd{300'000'000};
    service.name = "chat";
    service.engine = engine;
    service.slo = {.ttft = 2s, .tpot = 80ms};
    RoleFleet role;
    role.engine.gpu = "h100_sxm";
    role.machine.gpus = 8;
    role.machine.on_demand_per_hour = MicroUsd{55'040'000};
    fleet.roles.push_back(role);
    fleet.start.push_back({"node", 60s, 90s});
  }
  ServiceMonitoring monitoring() const {
    return service_monitoring(MonitoringTemplates::bundled(), spec, service, fleet);
  }
};

const Alert* find_alert(const ServiceMonitoring& found, std::string_view name) {
  for (const Alert& alert : found.alerts) {
    if (alert.name == name) return &alert;
  }
  return nullptr;
}

TEST(Monitoring, EveryQueryOfEveryEngineIsPromQl) {
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton}) {
    for (const GangScheduler scheduler : {GangScheduler::kai, GangScheduler::kueue}) {
      Sample sample(engine);
      sample.spec.cluster.gang_scheduler = scheduler;
      const ServiceMonitoring found = sample.monitoring();
      for (const Panel& panel : found.panels) EXPECT_TRUE(promql::parse(panel.query)) << panel.query;
      for (const Alert& alert : found.alerts) EXPECT_TRUE(promql::parse(alert.query)) << alert.query;
    }
  }
}

TEST(Monitoring, HasTheFiveHeadlineMetrics) {
  const ServiceMonitoring found = Sample(Engine::vllm).monitoring();
  std::vector<std::string> queries;
  for (const Panel& panel : found.panels) {
    if (panel.is_headline) queries.push_back(panel.query);
  }
  ASSERT_EQ(queries.size(), 5u);
  EXPECT_EQ(queries[0],
            "sum by (pod) (vllm:num_requests_waiting_by_reason{reason=\"capacity\", namespace=\"llm\", "
            "pod=~\"chat-.*\"})");
}

TEST(Monitoring, BurnsAgainstTheBoundInTheUnitOfTheMetric) {
  const ServiceMonitoring vllm = Sample(Engine::vllm).monitoring();
  ASSERT_NE(find_alert(vllm, "TtftBudgetBurnsFast"), nullptr);
  EXPECT_TRUE(find_alert(vllm, "TtftBudgetBurnsFast")->query.starts_with("histogram_quantile(0.856, "));
  EXPECT_TRUE(find_alert(vllm, "TtftP99AboveSlo")->query.ends_with("> 2"));
  EXPECT_TRUE(find_alert(vllm, "TpotP99AboveSlo")->query.ends_with("> 0.08"));
  EXPECT_TRUE(find_alert(Sample(Engine::triton).monitoring(), "TtftP99AboveSlo")->query.ends_with("> 2000"));
}

TEST(Monitoring, LeavesOutWhatTheEngineDoesNotReportAndSaysSo) {
  const ServiceMonitoring found = Sample(Engine::triton).monitoring();
  EXPECT_EQ(find_alert(found, "TpotP99AboveSlo"), nullptr);
  EXPECT_NE(std::ranges::find(found.left_out, "TpotP99AboveSlo: no tpot"), found.left_out.end());
}

TEST(Monitoring, LeavesOutABurnRateThatTheErrorBudgetCannotReach) {
  Sample sample(Engine::vllm);
  sample.service.slo.attainment_ppm = 900'000;  // a tenth may be late, so 14.4 times as much is everything
  EXPECT_EQ(find_alert(sample.monitoring(), "TtftBudgetBurnsFast"), nullptr);
  EXPECT_NE(find_alert(sample.monitoring(), "TtftBudgetBurnsSlowly"), nullptr);
}

TEST(Monitoring, LeavesOutComponentsThatTheClusterDoesNotHave) {
  Sample sample(Engine::vllm);
  sample.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  sample.spec.cluster.gang_scheduler = GangScheduler::none;
  for (const Alert& alert : sample.monitoring().alerts) {
    EXPECT_EQ(alert.query.find("karpenter_"), alert.query.npos) << alert.name;
    EXPECT_EQ(alert.query.find("kai_"), alert.query.npos) << alert.name;
  }
}

TEST(Monitoring, WritesAPrometheusRule) {
  const Sample sample(Engine::vllm);
  const std::string text =
      prometheus_rule(sample.spec, sample.service, {{"A", "page", "5m", "Too slow", "x > 1"}}).document();
  EXPECT_EQ(text, R"(apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: chat
  namespace: llm
spec:
  groups:
  - name: chat
    rules:
    - alert: A
      expr: x > 1
      for: "5m"
      labels:
        severity: page
        service: chat
      annotations:
        summary: Too slow
)");
}

TEST(Monitoring, GivesEveryPanelItsPlaceAndTheHeadlinesFirst) {
  const std::string json =
      grafana_dashboard("chat", "capstan-chat", {{"Second", "s", "b", false}, {"First", "s", "a", true}});
  EXPECT_LT(json.find("\"First\""), json.find("\"Second\""));
  EXPECT_NE(json.find("\"x\": 12"), json.npos);
}

TEST(MonitoringTemplates, ReportEveryErrorWithItsPlace) {
  const auto parsed = MonitoringTemplates::parse("panels:\n- {id: a}\nalerts: []\n", "m.yaml");
  ASSERT_FALSE(parsed);
  EXPECT_NE(parsed.error().text().find("m.yaml:2"), std::string::npos) << parsed.error().text();
  EXPECT_GT(parsed.error().list.size(), 2u);
}

TEST(MonitoringTemplates, HaveUniqueAlerts) {
  std::set<std::string> names;
  for (const AlertTemplate& alert : MonitoringTemplates::bundled().alerts) {
    EXPECT_TRUE(names.insert(alert.name).second) << alert.name;
  }
}

}  // namespace
}  // namespace capstan::plan
