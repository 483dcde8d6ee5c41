#include "lint/fix.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lint/render/render.h"
#include "lint/rules.h"

namespace capstan::lint::fix_test {
namespace {

Options everything() {
  Options options;
  options.advice = true;
  options.settings.closed_world = true;
  return options;
}

Report lint(const std::string& text) { return lint_texts({{"a.yaml", text, true}}, everything()); }

std::size_t count(const Report& report, const Rule* rule) {
  return static_cast<std::size_t>(
      std::ranges::count_if(report.findings, [&](const Finding& finding) { return finding.rule == rule; }));
}

/// Every fix of every rule's own example: it is gone, nothing else has come, and the rest of the text stays.
TEST(Fix, MendsWhatItSaysAndNothingElse) {
  std::size_t mended = 0;
  for (const Rule* rule : all_rules()) {
    const std::string bad(rule->bad);
    const Report before = lint(bad);
    for (const FixedFile& fixed : apply_fixes(before)) {
      EXPECT_TRUE(fixed.refused.empty()) << rule->id << "\n" << fixed.text;
      const Report after = lint(fixed.text);
      for (const Finding* finding : fixed.mended) {
        EXPECT_LT(count(after, finding->rule), count(before, finding->rule)) << finding->rule->id << "\n" << fixed.text;
        ++mended;
      }
      EXPECT_EQ(count(after, find_rule("yaml-syntax")), count(before, find_rule("yaml-syntax"))) << fixed.text;
    }
  }
  EXPECT_GT(mended, 15u);
}

TEST(Fix, KeepsCommentsAnchorsAndStyle) {
  const std::string text =
      "# pool\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g}\nspec:\n"
      "  limits: {nvidia.com/gpu: 8}\n  disruption: &d  # why\n    consolidationPolicy: \"WhenEmptyOrUnderutilized\"  "
      "# cheap\n"
      "    consolidateAfter: 1h\n";
  const Report report = lint(text);
  const std::vector<FixedFile> fixed = apply_fixes(report);
  ASSERT_EQ(fixed.size(), 1u);
  std::string expected = text;
  expected.replace(expected.find("\"WhenEmptyOrUnderutilized\""), 26, "WhenEmpty");
  EXPECT_EQ(fixed[0].text, expected);
}

TEST(Fix, WhatIsWrittenElsewhereIsLeft) {
  const std::string text =
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g, annotations: {a: &p "
      "WhenEmptyOrUnderutilized}}\n"
      "spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: *p}}\n";
  EXPECT_GT(count(lint(text), find_rule("gpu-consolidation-underutilized")), 0u);
  EXPECT_TRUE(apply_fixes(lint(text)).empty());
}

TEST(Fix, TheDifferenceIsOneThatPatchReads) {
  EXPECT_EQ(unified_diff("f", "a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nX\ne\nf\ng\n"),
            "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+X\n e\n f\n g\n");
  EXPECT_EQ(unified_diff("f", "a\nb\n", "b\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-a\n b\n");
  EXPECT_EQ(unified_diff("f", "a\n", "a\n"), "");
}

TEST(Fix, ATreeThatChangedElsewhereIsSeen) {
  const std::string before = "a: 1\nb: 2\n";
  const auto one = manifest::Documents::parse(before);
  const std::string after = "a: 3\nb: 4\n";
  const auto two = manifest::Documents::parse(after);
  EXPECT_FALSE(same_but_for(one.all()[0].root, two.all()[0].root, {{{3, 4}, "3"}}));
  EXPECT_TRUE(same_but_for(one.all()[0].root, two.all()[0].root, {{{3, 4}, "3"}, {{8, 9}, "4"}}));
}

}  // namespace
}  // namespace capstan::lint::fix_test
