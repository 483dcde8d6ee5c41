// Runs the peers' own cases if their files are present, and further cases with null fields, large numbers or bad input.
#include "conformance/peers.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "conformance/run.h"

namespace capstan::conformance {
namespace {

class Peers : public ::testing::TestWithParam<const char*> {};

TEST_P(Peers, AgreeWithTheirOwnCases) {
  const std::string file = std::string("../shared/data/cases/") + GetParam() + ".dev.json";
  const auto text = read_file(CAPSTAN_SOURCE_DIR "/" + file, 64u << 20);
  if (!text) GTEST_SKIP() << "the peer's cases, " << file << ", are not available";
  const Result<std::vector<Case>> cases = parse_cases(*text, file);
  ASSERT_TRUE(cases) << cases.error().text();
  const Report report = run(*find_suite(GetParam()), *cases);
  EXPECT_TRUE(report.failed.empty()) << to_text(report);
  EXPECT_GT(report.passed, 0u);
  RecordProperty("checked", static_cast<int>(report.passed));
}

INSTANTIATE_TEST_SUITE_P(All, Peers, ::testing::Values("hpa", "kpa", "keda", "wva", "ray_serve", "aibrix"));

/// Returns a suite's report on these cases, or the parse error.
std::string outcome(std::string_view suite, std::string_view text) {
  const Result<std::vector<Case>> cases = parse_cases(text, "test");
  return cases ? to_text(run(*find_suite(suite), *cases)) : cases.error().text();
}

TEST(HpaCases, AUsersBoundAppliesBeforeAMetricIsRead) {
  EXPECT_EQ(outcome("hpa", R"({"cases": [
    {"id": "zero", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 0,
     "tolerance": 0.1}, "expect": {"replicas": 0, "reason": "ScalingDisabled"}},
    {"id": "above", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 9,
     "tolerance": 0.1}, "expect": {"replicas": 5, "reason": "TooManyReplicas"}},
    {"id": "held", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 5,
     "tolerance": 0.1, "cpu_target_percent": 100, "usage_milli": [50, 50, 50, 50, 50],
     "requests_milli": [100, 100, 100, 100, 100], "recommendation_log": [{"replicas": 4, "age_s": 60}]},
     "expect": {"replicas": 4, "reason": "ScaleDownStabilized"}}]})"),
            "3 passed, 0 failed\n");
}

TEST(HpaCases, NumbersMayBeAsLargeAsInKubernetes) {
  EXPECT_EQ(outcome("hpa", R"({"cases": [
    {"id": "an int32 of replicas", "kind": "limit_with_policies", "given": {"current_replicas": 10,
     "desired_replicas": 2147483647, "min_replicas": 1, "max_replicas": 2147483647}, "expect": {"replicas": 20}},
    {"id": "a metric in bytes", "kind": "replica_calculation", "given": {"metric_source": "external_average",
     "current_replicas": 2, "target": 8000000000000, "tolerance": 0.1, "metric_values_milli": [24000000000000]},
     "expect": {"replicas": 3, "observed_milli": 12000000000000}},
    {"id": "a sum that does not fit", "kind": "replica_calculation", "given": {"metric_source": "external_average",
     "current_replicas": 2, "target": 1000, "tolerance": 0.1, "metric_values_milli": [9223372036854775807, 1]},
     "expect": {"replicas": 2147483647, "observed_milli": 9223372036854775807}}]})"),
            "3 passed, 0 failed\n");
}

/// An unreachable revision goes to zero after the grace period of 60 s. A reachable revision keeps its last pod for the
/// retention period of 600 s. At 60 s a revision of unknown reachability still has its last pod, too.
TEST(KpaCases, TheLastPodOfAnUnreachableRevisionIsNotRetained) {
  const auto case_of = [](std::string id, std::string reachability, int inactive_s, std::string expect) {
    return R"({"id": ")" + id +
           R"(", "kind": "scale_to_zero", "given": {"start_replicas": 1, "wanted": 0, "min_scale": 0, "max_scale": 0,
      "activity": "inactive", "activity_for_s": )" +
           std::to_string(inactive_s) + R"(, "initial_scale": 1, "initial_scale_reached": false, "reachability": ")" +
           reachability + R"(", "activator_probe": "ok", "activator_in_path": false, "activator_in_path_for_s": 0,
      "config": {"scale_to_zero": true, "stable_window_s": 300, "grace_s": 60, "retention_s": 600,
      "activation_timeout_s": 151, "target_burst_capacity": 211}}, "expect": )" +
           expect + "}";
  };
  const std::string goes = R"({"desired": 0, "applied": true, "requeues": 0, "async_probes": 0})";
  const std::string waits = R"({"desired": 0, "applied": false, "requeues": 1, "async_probes": 0})";
  EXPECT_EQ(
      outcome("kpa", R"({"cases": [)" + case_of("unreachable", "unreachable", 60, goes) + "," +
                         case_of("unreachable, within the grace", "unreachable", 59, waits) + "," +
                         case_of("reachable", "reachable", 60, waits) + "," + case_of("unknown", "unknown", 60, waits) +
                         "," + case_of("reachable, after the retention", "reachable", 600, goes) + "]}"),
      "5 passed, 0 failed\n");
}

TEST(HpaCases, NullCountsAsAbsent) {
  EXPECT_EQ(outcome("hpa", R"({"cases": [
    {"id": "the minimum is one", "kind": "reconcile", "given": {"min_replicas": null, "max_replicas": 5,
     "current_replicas": 0, "tolerance": 0.1}, "expect": {"replicas": 0, "reason": "ScalingDisabled"}},
    {"id": "a pod without a sample is idle on the way up", "kind": "reconcile", "given": {"min_replicas": null,
     "max_replicas": 9, "current_replicas": 3, "tolerance": 0.1, "cpu_target_percent": 50,
     "usage_milli": [null, 90, 90], "requests_milli": [100, 100, 100]},
     "expect": {"replicas": 4, "reason": "DesiredWithinRange"}},
    {"id": "a pod without a request is an error", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 9,
     "current_replicas": 2, "tolerance": 0.1, "cpu_target_percent": 50, "usage_milli": [90, 90],
     "requests_milli": [100, null]}, "expect": {"replicas": 2, "reason": "FailedGetResourceMetric"}},
    {"id": "no log", "kind": "stabilize_default", "given": {"window_s": 300, "recommendations": null,
     "desired_replicas": 3}, "expect": {"replicas": 3, "log_length": 1}},
    {"id": "no metric", "kind": "replica_calculation", "given": {"metric_source": "external_average",
     "current_replicas": 3, "target": 1000, "tolerance": 0.1, "metric_values_milli": null},
     "expect": {"error": "no value"}},
    {"id": "from zero no pod is needed", "kind": "replica_calculation", "given": {"metric_source": "external_value",
     "current_replicas": 0, "target": 1000, "tolerance": 0.1, "metric_values_milli": [2500]},
     "expect": {"replicas": 3}}]})"),
            "6 passed, 0 failed\n");
}

TEST(HpaCases, UnreadyAndMissingPodsAreSets) {
  EXPECT_EQ(outcome("hpa", R"({"cases": [{"id": "two", "kind": "pod_grouping", "given": {"cpu": true,
    "cpu_initialization_s": 120, "initial_readiness_delay_s": 10, "pods": [
     {"name": "a", "phase": "pending", "ready": null, "ready_transition_age_s": null, "deleting": false,
      "start_age_s": null, "sample_milli": null, "sample_age_s": null, "sample_window_s": null},
     {"name": "b", "phase": "pending", "ready": null, "ready_transition_age_s": null, "deleting": false,
      "start_age_s": null, "sample_milli": null, "sample_age_s": null, "sample_window_s": null}]},
    "expect": {"ready_count": 0, "unready": ["b", "a"], "missing": []}}]})"),
            "1 passed, 0 failed\n");
}

TEST(RayServeCases, MergesAnAverage) {
  const std::string text = outcome("ray_serve", R"({"cases": [
    {"id": "late", "kind": "merged_average", "given": {"last_point_holds_s": 10, "series": [
      [[0, 10], [10, 20]], [[5, 4]]]},
     "expect": {"average_from_first_point": 18.0, "derived": {"average_from_all_reported": 20.666666666667}}},
    {"id": "idle", "kind": "merged_average", "given": {"last_point_holds_s": 10, "series": []},
     "expect": {"average_from_first_point": null, "average_from_all_reported": null}},
    {"id": "back", "kind": "merged_average", "given": {"last_point_holds_s": 10, "series": [[[5, 1], [4, 1]]]},
     "expect": {}}]})");
  EXPECT_TRUE(text.ends_with("2 passed, 1 failed\n")) << text;
  EXPECT_TRUE(text.starts_with("back: given.series[0][1][0]: ")) << text;
}

TEST(KedaCases, AFallbackReplacesAFormula) {
  EXPECT_EQ(outcome("keda", R"({"cases": [
    {"id": "one trigger left", "kind": "composite", "given": {"formula": "a ?? b", "triggers": {"a": null, "b": 1.5}},
     "expect": {"milli": 1500}},
    {"id": "no trigger left", "kind": "composite", "given": {"formula": "a + b", "triggers": {"a": null, "b": 1.5},
     "target": 2, "fallback_replicas": 7, "failure_threshold": 3, "failures": 4}, "expect": {"milli": 14000}},
    {"id": "not yet", "kind": "composite", "given": {"formula": "a + b", "triggers": {"a": null, "b": 1.5},
     "target": 2, "fallback_replicas": 7, "failure_threshold": 3, "failures": 3}, "expect": {"error": true}},
    {"id": "no formula", "kind": "composite", "given": {"formula": "a +", "triggers": {"a": null},
     "target": 2, "fallback_replicas": 7}, "expect": {"error": true}},
    {"id": "no trigger failed", "kind": "composite", "given": {"formula": "a > 1", "triggers": {"a": 2.0},
     "target": 2, "fallback_replicas": 7}, "expect": {"error": true}}]})"),
            "5 passed, 0 failed\n");
}

TEST(WvaCases, OptionalPartsMayBeAbsentOrNull) {
  EXPECT_EQ(outcome("wva", R"({"cases": [
    {"id": "no parameters", "kind": "capacity_from_parameters", "given": {"max_batched_tokens": null, "avg_input": 500,
     "avg_output": 100}, "expect": {"tokens": 0}},
    {"id": "no analysis", "kind": "cost_aware", "given": {"models": [{"required": null, "spare": -1,
     "variants": [{"variant": "a", "cost": 1, "capacity": 0.5, "current": 2}]}]}, "expect": {"targets": {"a": 2}}},
    {"id": "no V1 analysis", "kind": "saturation_v1_targets", "given": {"variants": [{"variant": "a", "current": 2,
     "reporting": null, "desired": 5}]}, "expect": {"targets": {"a": 2}}},
    {"id": "cheapest", "kind": "cheapest", "given": {"variants": [["a", 5, 10], ["b", 5, 100]]},
     "expect": {"cheapest": "a"}},
    {"id": "no variant", "kind": "cheapest", "given": {"variants": []}, "expect": {"cheapest": ""}},
    {"id": "no limits", "kind": "merge_limits", "given": {"limits": [null, {"A": 1}]},
     "expect": {"available": {"A": 1}}},
    {"id": "cost unknown", "kind": "enforcer", "given": {"enabled": false, "targets": {"a": 0, "b": 0},
     "costs": {"a": 100}}, "expect": {"targets": {"b": 1}, "applied": true}},
    {"id": "one target", "kind": "sizing_targets_check", "given": {"ttft_ms": 5}, "expect": {"valid": true}}]})"),
            "8 passed, 0 failed\n");
}

TEST(WvaCases, GpusAreCountedLikeTheInventory) {
  EXPECT_EQ(outcome("wva", R"({"cases": [
    {"id": "products", "kind": "inventory", "given": {"nodes": {"n": {"NVIDIA-H100-SXM5-80GB": 8, "H100": 1}}},
     "expect": {"limit": {"H100": 9}}},
    {"id": "one type is over its limit", "kind": "inventory", "given": {"nodes": {"n": {"H100": 8, "A100": 8}},
     "used": {"H100": 12, "L4": 1}},
     "expect": {"available": {"H100": 0, "A100": 8, "L4": 0}, "total_available": 3}},
    {"id": "an empty type without GPUs", "kind": "pool_grant", "given": {"pools": {"H100": 8},
     "requests": [{"type": "", "gpus": 0}]}, "expect": {"granted": [0]}},
    {"id": "a rejected request in between", "kind": "pool_grant", "given": {"pools": {"H100": 8},
     "requests": [{"type": "", "gpus": 1}, {"type": "H100", "gpus": 3}]},
     "expect": {"error": "no type", "granted": [0, 3], "remaining": {"H100": 5}}},
    {"id": "one pool for all types", "kind": "limiter", "given": {"free_gpus": 1,
     "decisions": [{"variant": "a", "type": "H100", "current": 0, "target": 2}]},
     "expect": {"decisions": {"a": {"gpus": 1, "target": 1, "limited": true}}, "remaining": 0}}]})"),
            "5 passed, 0 failed\n");
}

}  // namespace
}  // namespace capstan::conformance
