// Kubernetes' own cases of the HPA, where the file with them is present.
#include "decide/scale/hpa.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "decide/testing/world.h"

namespace capstan::decide::scale {
namespace {

using Json = nlohmann::json;
constexpr Instant kNow{std::chrono::hours(1000)};

Instant ago(const Json& seconds) {
  return kNow - std::chrono::milliseconds(std::int64_t(seconds.get<double>() * 1000));
}

HpaRules rules_of(const Json& given, HpaRules otherwise) {
  if (given.is_null()) return otherwise;
  HpaRules rules;
  const std::string select = given.value("select", "max");
  rules.select = select == "min"        ? HpaRules::Select::min
                 : select == "disabled" ? HpaRules::Select::disabled
                                        : HpaRules::Select::max;
  rules.stabilization = std::chrono::seconds(given.value("stabilization_window_s", 0));
  for (const Json& policy : given.value("policies", Json::array())) {
    rules.policies.push_back({policy["type"] == "pods" ? HpaRatePolicy::Kind::pods : HpaRatePolicy::Kind::percent,
                              policy["value"].get<std::int64_t>(),
                              std::chrono::seconds(policy["period_s"].get<std::int64_t>())});
  }
  return rules;
}

std::vector<Memory::Change> changes_of(const Json& events) {
  std::vector<Memory::Change> changes;
  for (const Json& event : events) {
    if (event.value("outdated", false)) continue;
    changes.push_back({ago(event["age_s"]), event["replica_change"].get<std::int64_t>()});
  }
  return changes;
}

/// What ours answers, or nothing for a kind of case that speaks of parts we do not have (resource metrics, object and
/// external metrics, the layout of the event log).
std::optional<ReplicaCount> answer(const Json& c) {
  const Json& given = c["given"];
  const std::string kind = c["kind"];
  HpaSettings settings;
  Memory memory;
  if (kind == "replica_calculation") {
    if (given["metric_source"] != "pods_average" || c["expect"].contains("error")) return {};
    std::vector<HpaPod> pods;
    for (const Json& pod : given["pods"]) {
      if (pod["deleting"].get<bool>() || pod["phase"] == "failed") continue;
      if (pod["phase"] == "pending")
        pods.push_back({HpaPod::Group::unready, 0});
      else if (pod["sample_milli"].is_null())
        pods.push_back({HpaPod::Group::missing, 0});
      else
        pods.push_back({HpaPod::Group::ready, pod["sample_milli"].get<std::int64_t>()});
    }
    settings.tolerance_up_per_mille = settings.tolerance_down_per_mille =
        static_cast<std::int64_t>(given["tolerance"].get<double>() * 1000 + 0.5);
    return propose_by_pods(pods, given["target"].get<std::int64_t>(), given["current_replicas"].get<std::int64_t>(),
                           settings)
        .replicas;
  }
  if (kind == "limit_without_behavior" || kind == "limit_with_policies") {
    if (kind == "limit_with_policies") {
      settings.behavior = HpaBehavior{};
      settings.behavior->up = rules_of(given["scale_up_rules"], settings.behavior->up);
      settings.behavior->down = rules_of(given["scale_down_rules"], settings.behavior->down);
      memory.ups = changes_of(given["scale_up_events"]);
      memory.downs = changes_of(given["scale_down_events"]);
    }
    return limit_rate(memory, settings, given["current_replicas"].get<std::int64_t>(),
                      given["desired_replicas"].get<std::int64_t>(), given["min_replicas"].get<std::int64_t>(),
                      given["max_replicas"].get<std::int64_t>(), kNow);
  }
  if (kind == "stabilize_default" || kind == "stabilize_windows") {
    for (const Json& entry : given["recommendations"]) {
      memory.answers.push_back({ago(entry["age_s"]), entry["replicas"].get<std::int64_t>()});
    }
    if (kind == "stabilize_default") {
      settings.downscale_stabilization = std::chrono::seconds(given["window_s"].get<std::int64_t>());
    } else {
      settings.behavior = HpaBehavior{};
      settings.behavior->up.stabilization = std::chrono::seconds(given["scale_up_window_s"].get<std::int64_t>());
      settings.behavior->down.stabilization = std::chrono::seconds(given["scale_down_window_s"].get<std::int64_t>());
    }
    return stabilize(memory, settings, given.value("current_replicas", std::int64_t{0}),
                     given["desired_replicas"].get<std::int64_t>(), kNow);
  }
  return {};
}

TEST(HpaCases, AgreeWithKubernetes) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/../shared/data/cases/hpa.dev.json");
  if (!file) GTEST_SKIP() << "the file of Kubernetes' cases, ../shared/data/cases/hpa.dev.json, is not here";
  const Json cases = Json::parse(file)["cases"];
  int checked = 0;
  for (const Json& c : cases) {
    const std::optional<ReplicaCount> replicas = answer(c);
    if (!replicas) continue;
    SCOPED_TRACE(c["id"].get<std::string>());
    EXPECT_EQ(*replicas, c["expect"]["replicas"].get<std::int64_t>());
    ++checked;
  }
  EXPECT_GE(checked, 30);
  RecordProperty("checked", checked);
}

}  // namespace
}  // namespace capstan::decide::scale
