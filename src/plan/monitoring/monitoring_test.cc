#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <tuple>

#include "plan/monitoring/service_monitoring.h"
#include "plan/monitoring/template_values.h"
#include "promql/parser.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

/// A service with a fleet, on a cluster with Karpenter, KAI, two tenants and a limit of cost.
struct Sample {
  PlanSpec spec{};
  std::vector<ServicePlan> fleets{};

  explicit Sample(Engine engine) {
    spec.namespace_ = "llm";
    spec.limits.per_hour = MicroUsd{300'000'000};
    spec.tenants = {{.name = "production"}, {.name = "training"}};
    spec.services = {{.name = "chat", .engine = engine, .slo = {.ttft = 2s, .tpot = 80ms}}};
    add_fleet("chat", "h100_sxm", "p5.48xlarge", MicroUsd{55'040'000});
  }
  void add_fleet(const std::string& name, const std::string& gpu, const std::string& machine, MicroUsd price) {
    RoleFleet role;
    role.engine.gpu = gpu;
    role.machine = {.name = machine, .gpu = gpu, .gpus = 8, .on_demand_per_hour = price, .spot_per_hour = MicroUsd{1}};
    fleets.push_back({.service = name, .roles = {role}, .start = {{StartStep::node, 60s, 90s}}});
  }
  Monitoring monitoring() const {
    return service_monitoring(MonitoringTemplates::bundled(), spec, spec.services.front());
  }
  Monitoring of_cluster() const { return cluster_monitoring(MonitoringTemplates::bundled(), {spec, fleets}); }
};

const Alert* find_alert(const Monitoring& found, std::string_view name) {
  for (const Alert& alert : found.alerts) {
    if (alert.name == name) return &alert;
  }
  return nullptr;
}

TEST(Monitoring, EveryQueryOfEveryEngineIsPromQl) {
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton}) {
    for (const GangScheduler scheduler : {GangScheduler::kai, GangScheduler::kueue, GangScheduler::none}) {
      Sample sample(engine);
      sample.spec.cluster.gang_scheduler = scheduler;
      for (const Monitoring& found : {sample.monitoring(), sample.of_cluster()}) {
        for (const Panel& panel : found.panels) EXPECT_TRUE(promql::parse(panel.query)) << panel.query;
        for (const Alert& alert : found.alerts) EXPECT_TRUE(promql::parse(alert.query)) << alert.query;
      }
    }
  }
}

std::vector<std::string> headline_queries(const Monitoring& found) {
  std::vector<std::string> queries;
  for (const Panel& panel : found.panels) {
    if (panel.is_headline) queries.push_back(panel.query);
  }
  return queries;
}

TEST(Monitoring, HasTheFiveHeadlineMetrics) {
  const Sample sample(Engine::vllm);
  // The dashboard shows the series on which the scalers act.
  EXPECT_EQ(headline_queries(sample.monitoring()),
            (std::vector<std::string>{
                "sum by (pod) (vllm:num_requests_waiting{namespace=\"llm\",app_kubernetes_io_name=\"chat\"})",
                "max by (pod) (vllm:kv_cache_usage_perc{namespace=\"llm\",app_kubernetes_io_name=\"chat\"})"}));
  EXPECT_EQ(headline_queries(sample.of_cluster()).size(), 3u);
}

TEST(Monitoring, ReadsBothSpellingsOfSglang) {
  EXPECT_EQ(
      headline_queries(Sample(Engine::sglang).monitoring()).front(),
      "sum by (pod) ({__name__=~\"sglang[:_]num_queue_reqs\",namespace=\"llm\",app_kubernetes_io_name=\"chat\"})");
}

TEST(Monitoring, WritesTheAlertsOfTheClusterOnce) {
  const Sample sample(Engine::vllm);
  for (const char* name : {"NodeWaitTooLong", "GangsDeferred", "KarpenterEndsRunningNodes", "BudgetExceeded"}) {
    EXPECT_EQ(find_alert(sample.monitoring(), name), nullptr) << name;
    EXPECT_NE(find_alert(sample.of_cluster(), name), nullptr) << name;
  }
  EXPECT_TRUE(find_alert(sample.of_cluster(), "NodeWaitTooLong")->query.ends_with("> 300"));
}

TEST(Monitoring, ComparesTheCostOfAllPoolsWithTheLimit) {
  Sample sample(Engine::vllm);
  sample.spec.services.push_back({.name = "mail"});
  sample.add_fleet("mail", "l4", "g6.48xlarge", MicroUsd{13'360'000});
  const std::string usage = "karpenter_nodepools_usage{nodepool=";
  EXPECT_EQ(find_alert(sample.of_cluster(), "BudgetExceeded")->query,
            "(sum(" + usage + "\"h100\",resource_type=\"nvidia.com/gpu\"}) or vector(0)) * 6.8800 + (sum(" + usage +
                "\"l4\",resource_type=\"nvidia.com/gpu\"}) or vector(0)) * 1.6700 > 300.00");
  sample.spec.limits.per_hour.reset();
  EXPECT_EQ(sample.of_cluster().not_requested,
            (std::vector<LeftOutRow>{{"BudgetExceeded", "the spec has no limits.usd_per_hour"}}));
  EXPECT_TRUE(sample.of_cluster().left_out.empty());
}

TEST(Monitoring, SelectsThePodsOfTheServiceAndNoOthers) {
  ServiceSpec service{.name = "chat"};
  const auto matches = [&](const std::string& pod) { return std::regex_match(pod, std::regex(pod_pattern(service))); };
  EXPECT_TRUE(matches("chat-7d9f8b6c9-x2k4z"));
  EXPECT_TRUE(matches("chat-b4c6-zzzzz"));
  for (const char* other : {"chat-prepull-x2k4z", "chat-balloon-7d9f8b6c9-x2k4z", "chat-eu-7d9f8b6c9-x2k4z",
                            "chat-decode-7d9f8b6c9-x2k4z", "chat-0", "my-chat-7d9f8b6c9-x2k4z"}) {
    EXPECT_FALSE(matches(other)) << other;
  }
  service.is_disaggregated = true;
  EXPECT_TRUE(matches("chat-decode-7d9f8b6c9-x2k4z"));
  EXPECT_FALSE(matches("chat-7d9f8b6c9-x2k4z"));
  service.is_disaggregated = false;
  service.pods_per_replica = 2;
  EXPECT_TRUE(matches("chat-3"));
  EXPECT_TRUE(matches("chat-3-1"));
  EXPECT_TRUE(matches("chat-12-10"));
  EXPECT_FALSE(matches("chat-prepull-x2k4z"));
  EXPECT_FALSE(matches("chat-2-0")) << "the leader of the first replica of chat-2; workers count from 1";
  EXPECT_FALSE(matches("chat-2-0-1")) << "a worker of chat-2";
}

TEST(Monitoring, SaysWhichMemoryRanOut) {
  const Monitoring found = Sample(Engine::vllm).monitoring();
  const Alert* host = find_alert(found, "EngineOutOfMemory");
  ASSERT_NE(host, nullptr);
  EXPECT_NE(host->query.find("kube_pod_container_status_last_terminated_reason{reason=\"OOMKilled\""), host->query.npos)
      << host->query;
  const Alert* gpu = find_alert(found, "GpuOutOfMemory");
  ASSERT_NE(gpu, nullptr);
  EXPECT_NE(gpu->query.find("min_over_time(DCGM_FI_DEV_FB_FREE{ exported_namespace="), gpu->query.npos) << gpu->query;
}

TEST(Monitoring, SaysThatAGpuIsNearlyFullBeforeAnEngineEnds) {
  const Monitoring found = Sample(Engine::vllm).monitoring();
  const Alert* full = find_alert(found, "GpuMemoryAlmostFull");
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->query.find("restarts"), full->query.npos) << full->query;
}

TEST(Monitoring, NoticesGangsOfWhichSomeArePlaced) {
  Sample sample(Engine::vllm);
  const Monitoring cluster = sample.of_cluster();
  const Alert* partly = find_alert(cluster, "GangsPartlyDeferred");
  ASSERT_NE(partly, nullptr);
  EXPECT_NE(partly->query.find("> sum("), partly->query.npos) << partly->query;
  sample.spec.cluster.gang_scheduler = GangScheduler::none;
  const Monitoring service = sample.monitoring();
  const Alert* pods = find_alert(service, "GangsDeferred");
  ASSERT_NE(pods, nullptr) << "without KAI and Kueue, too";
  EXPECT_NE(pods->query.find("kube_pod_status_unschedulable"), pods->query.npos) << pods->query;
}

TEST(Monitoring, BurnsAgainstTheBoundInTheUnitOfTheMetric) {
  const Monitoring vllm = Sample(Engine::vllm).monitoring();
  ASSERT_NE(find_alert(vllm, "TtftBudgetBurnsFast"), nullptr);
  EXPECT_TRUE(find_alert(vllm, "TtftBudgetBurnsFast")->query.starts_with("histogram_quantile(0.856, "));
  EXPECT_TRUE(find_alert(vllm, "TtftP99AboveSlo")->query.ends_with("> 2"));
  EXPECT_TRUE(find_alert(vllm, "TpotP99AboveSlo")->query.ends_with("> 0.08"));
  EXPECT_TRUE(find_alert(Sample(Engine::triton).monitoring(), "TtftP99AboveSlo")->query.ends_with("> 2000"));
}

TEST(Monitoring, LeavesOutWhatTheEngineDoesNotReportAndSaysSo) {
  const Monitoring found = Sample(Engine::triton).monitoring();
  EXPECT_EQ(find_alert(found, "TpotP99AboveSlo"), nullptr);
  EXPECT_NE(std::ranges::find(found.left_out, LeftOutRow{"TpotP99AboveSlo", "triton reports no tpot"}),
            found.left_out.end());
}

TEST(Monitoring, LeavesOutABurnRateThatTheErrorBudgetCannotReach) {
  Sample sample(Engine::vllm);
  sample.spec.services.front().slo.attainment_ppm =
      900'000;  // a tenth may be late, and 14.4 times a tenth is more than all requests
  EXPECT_EQ(find_alert(sample.monitoring(), "TtftBudgetBurnsFast"), nullptr);
  EXPECT_NE(find_alert(sample.monitoring(), "TtftBudgetBurnsSlowly"), nullptr);
}

TEST(Monitoring, LeavesOutComponentsThatTheClusterDoesNotHave) {
  Sample sample(Engine::vllm);
  sample.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  sample.spec.cluster.gang_scheduler = GangScheduler::none;
  EXPECT_TRUE(sample.of_cluster().left_out.empty());
  for (const Alert& alert : sample.of_cluster().alerts) {
    EXPECT_EQ(alert.query.find("karpenter_"), alert.query.npos) << alert.name;
    EXPECT_EQ(alert.query.find("kai_"), alert.query.npos) << alert.name;
  }
}

/// In some clouds the provider runs the node autoscaler, so nothing in the cluster exports its metrics. The plan leaves
/// out the alerts and panels that need them, and says so.
TEST(Monitoring, HasNoQueryWithoutASourceAndSaysSo) {
  Sample sample(Engine::vllm);
  sample.spec.cluster.cloud = Cloud::azure;
  EXPECT_FALSE(sample.of_cluster().sources.contains(MetricSource::karpenter));
  EXPECT_EQ(find_alert(sample.of_cluster(), "KarpenterEndsRunningNodes"), nullptr);
  EXPECT_EQ(
      sample.of_cluster().left_out,
      (std::vector<LeftOutRow>{
          {"GPUs of the node pool", "AKS runs Karpenter itself, so that nothing in the cluster exports its metrics"},
          {"KarpenterEndsRunningNodes",
           "AKS runs Karpenter itself, so that nothing in the cluster exports its metrics"}}));
  sample.spec.cluster.cloud = Cloud::gcp;
  sample.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  EXPECT_EQ(find_alert(sample.of_cluster(), "ClusterAutoscalerEndsRunningNodes"), nullptr);
  ASSERT_EQ(sample.of_cluster().left_out.size(), 1u);
  EXPECT_NE(find_alert(sample.monitoring(), "NodeWaitTooLong"), nullptr);
  EXPECT_EQ(headline_queries(sample.monitoring()).size() + headline_queries(sample.of_cluster()).size(), 5u);
  sample.spec.cluster.cloud = Cloud::aws;
  EXPECT_NE(find_alert(sample.of_cluster(), "ClusterAutoscalerEndsRunningNodes"), nullptr);
}

TEST(Monitoring, CountsNodesAtTheirPricesWhereKarpenterDoesNotReportThem) {
  Sample sample(Engine::vllm);
  sample.spec.cluster.provisioner = Provisioner::cluster_autoscaler;
  EXPECT_EQ(find_alert(sample.of_cluster(), "BudgetExceeded")->query,
            "(count(kube_node_labels{label_capstan_dev_pool=\"h100\"}) or vector(0)) * 55.0400 > 300.00");
  sample.fleets[0].roles[0].engine.tp = 8;
  sample.fleets[0].roles[0].maximum = 4;
  sample.fleets[0].spot_ppm = 1'000'000;
  EXPECT_EQ(find_alert(sample.of_cluster(), "BudgetExceeded")->query,
            "(count(kube_node_labels{label_capstan_dev_pool=\"h100\",label_eks_amazonaws_com_capacity_type!=\"SPOT\"}) "
            "or vector(0)) * 55.0400 + (count(kube_node_labels{label_capstan_dev_pool=\"h100\","
            "label_eks_amazonaws_com_capacity_type=\"SPOT\"}) or vector(0)) * 0.0000 > 300.00");
}

TEST(Monitoring, WritesAPrometheusRule) {
  const Sample sample(Engine::vllm);
  const std::string text =
      prometheus_rule(sample.spec, "chat", "chat", {{"A", "page", "5m", "Too slow", "x > 1"}}).document();
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

TEST(MonitoringTemplates, NameTheSourceOfEveryQuery) {
  const std::string text(bundled_monitoring_yaml());
  std::size_t sources = 0;
  for (std::size_t at = text.find("\n  source: "); at != text.npos; at = text.find("\n  source: ", at + 1)) ++sources;
  const MonitoringTemplates& templates = MonitoringTemplates::bundled();
  EXPECT_EQ(sources, templates.panels.size() + templates.alerts.size());
}

TEST(MonitoringTemplates, HaveOneAlertOfANameForEachComponentAndSource) {
  std::set<std::tuple<std::string, Component, MetricSource>> names;
  for (const AlertTemplate& alert : MonitoringTemplates::bundled().alerts) {
    EXPECT_TRUE(names.emplace(alert.id, alert.component, alert.source).second) << alert.id;
  }
}

}  // namespace
}  // namespace capstan::plan
