#include "plan/against/monitor.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

ExistingObject monitored(const std::string& text) { return {"old.yaml", manifest::parse(text, "old.yaml").value()}; }
Manifest monitoring(const std::string& text) {
  return {.file = "a.yaml", .body = yaml_of(manifest::parse(text, "a.yaml").value())};
}

constexpr const char* kPodMonitor =
    "{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: chat}, spec: {selector: {matchLabels: "
    "{name: chat}}, podTargetLabels: [name], podMetricsEndpoints: [{port: http}]}}";
constexpr const char* kServiceMonitor =
    "{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: llm}, spec: {selector: "
    "{matchLabels: {app: llm}}}}";

TEST(Monitor, AServiceMonitorOfThePairedPodsStandsForThePodMonitor) {
  const Manifest workload = monitoring("{kind: Deployment, spec: {template: {metadata: {labels: {name: chat}}}}}");
  const std::vector<ExistingObject> existing = {
      monitored("{kind: Deployment, spec: {template: {metadata: {labels: {app: llm}}}}}"),
      monitored("{kind: Service, metadata: {labels: {app: llm}}, spec: {selector: {app: llm}}}"),
      monitored(kServiceMonitor)};
  const std::vector<ObjectMatch> pairs = {{nullptr, &workload, &existing[0]}};
  EXPECT_TRUE(scrapes_the_same(monitoring(kPodMonitor), existing[2], pairs, existing));
  EXPECT_FALSE(scrapes_the_same(monitoring(kPodMonitor), existing[2], {}, existing));
  EXPECT_EQ(part_for_service_monitor(monitoring(kPodMonitor)).body.flow(),
            R"({"spec": {"podTargetLabels": ["name"]}})");
}

TEST(Monitor, DoesNotPairTheMonitorOfAnotherProgram) {
  const Manifest karpenter = monitoring(
      "{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: karpenter}, spec: {selector: "
      "{matchLabels: {app: karpenter}}}}");
  const ExistingObject llm = monitored(kServiceMonitor);
  EXPECT_FALSE(scrapes_the_same(karpenter, llm, {}, {llm}));
  Plan plan;
  plan.sections.push_back({.key = "monitoring"});
  plan.sections[0].manifests.push_back(karpenter);
  EXPECT_EQ(match_objects(plan, {llm})[0].existing, nullptr) << "one of a kind on each side is no evidence";
}

TEST(Monitor, PairsMonitorsThatSelectTheSame) {
  Manifest other = monitoring(kServiceMonitor);
  other.body["metadata"].set("name", "mine");
  const ExistingObject llm = monitored(kServiceMonitor);
  EXPECT_TRUE(scrapes_the_same(other, llm, {}, {}));
}

}  // namespace
}  // namespace capstan::plan
