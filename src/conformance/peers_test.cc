// The peers' own cases, where the files with them are present, and what a peer does with cases that are wrong.
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
  if (!text) GTEST_SKIP() << "the peer's cases, " << file << ", are not here";
  const Result<std::vector<Case>> cases = parse_cases(*text, file);
  ASSERT_TRUE(cases) << cases.error().text();
  const Report report = run(*find_suite(GetParam()), *cases);
  EXPECT_TRUE(report.failed.empty()) << to_text(report);
  EXPECT_GT(report.passed, 0u);
  RecordProperty("checked", static_cast<int>(report.passed));
}

INSTANTIATE_TEST_SUITE_P(All, Peers, ::testing::Values("hpa", "kpa", "keda", "wva", "ray_serve", "aibrix"));

TEST(HpaCases, ABoundOfTheUserEndsBeforeAMetricIsRead) {
  const auto cases = parse_cases(R"({"cases": [
    {"id": "zero", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 0,
     "tolerance": 0.1}, "expect": {"replicas": 0, "reason": "ScalingDisabled"}},
    {"id": "above", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 9,
     "tolerance": 0.1}, "expect": {"replicas": 5, "reason": "TooManyReplicas"}},
    {"id": "held", "kind": "reconcile", "given": {"min_replicas": 1, "max_replicas": 5, "current_replicas": 5,
     "tolerance": 0.1, "cpu_target_percent": 100, "usage_milli": [50, 50, 50, 50, 50],
     "requests_milli": [100, 100, 100, 100, 100], "recommendation_log": [{"replicas": 4, "age_s": 60}]},
     "expect": {"replicas": 4, "reason": "ScaleDownStabilized"}}]})",
                                 "test");
  ASSERT_TRUE(cases) << cases.error().text();
  EXPECT_EQ(to_text(run(*find_suite("hpa"), *cases)), "3 passed, 0 failed\n");
}

}  // namespace
}  // namespace capstan::conformance
