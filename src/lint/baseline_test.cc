#include "lint/baseline.h"

#include <gtest/gtest.h>

namespace capstan::lint::baseline_test {
namespace {

const std::string kPool =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g}\n"
    "spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: WhenEmptyOrUnderutilized}}\n";

Report lint(const std::string& text) { return lint_texts({{"a.yaml", text, true}}, {}); }

TEST(Baseline, AKnownFindingIsNotReportedAfterItMoves) {
  const Report old = lint(kPool);
  ASSERT_FALSE(old.findings.empty());
  Report moved = lint("# a new line\n\n" + kPool);
  ASSERT_TRUE(subtract_baseline(moved, baseline_of(old), "b.json"));
  EXPECT_TRUE(moved.findings.empty());
  EXPECT_EQ(moved.summary.in_baseline, old.findings.size());
}

TEST(Baseline, ANewFindingIsReported) {
  Report twice = lint(kPool + "---\n" + kPool);
  ASSERT_TRUE(subtract_baseline(twice, baseline_of(lint(kPool)), "b.json"));
  EXPECT_EQ(twice.findings.size(), lint(kPool).findings.size());
}

TEST(Baseline, OtherFilesAreRefused) {
  for (const char* text : {"", "{", "[]", "{\"findings\": 3}", "{\"findings\": [1]}", "{\"findings\": [{}]}"}) {
    Report report = lint(kPool);
    EXPECT_FALSE(subtract_baseline(report, text, "b.json")) << text;
  }
}

}  // namespace
}  // namespace capstan::lint::baseline_test
