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
  options.settings.is_complete_cluster = true;
  return options;
}

Report lint(const std::string& text, const std::string& path = "a.yaml") {
  return lint_texts({{path, text, true}}, everything());
}

/// Returns the findings of one rule in a text.
Report lint_by(const Rule* rule, const std::string& text) {
  Report report = lint(text);
  std::erase_if(report.findings, [&](const Finding& finding) { return finding.rule != rule; });
  return report;
}

std::size_t count(const Report& report, const Rule* rule) {
  return static_cast<std::size_t>(
      std::ranges::count_if(report.findings, [&](const Finding& finding) { return finding.rule == rule; }));
}

/// Returns the text that an edit writes, without the quotes, commas and line breaks around it.
std::string written(const Edit& edit) {
  const std::size_t begin = edit.text.find_first_not_of(", \n\"'");
  const std::size_t end = edit.text.find_last_not_of(" \n\"'");
  return begin == edit.text.npos ? "" : edit.text.substr(begin, end + 1 - begin);
}

/// Returns a text after its fixes; the text itself if there are none.
std::string fixed_text(const std::string& text, FixSafety up_to, const std::string& path = "a.yaml") {
  const Report report = lint(text, path);
  const std::vector<FixedFile> fixed = apply_fixes(report, up_to);
  return fixed.empty() ? text : fixed[0].text;
}

std::string replaced(std::string text, const std::string& part, const std::string& instead) {
  return text.replace(text.find(part), part.size(), instead);
}

class FixOfRule : public testing::TestWithParam<const Rule*> {};

/// The edits of a rule must turn the bad example into the good one, byte for byte, and remove its findings. The text of
/// the fix must name everything that the edits write.
TEST_P(FixOfRule, TurnsTheBadExampleIntoTheGoodOne) {
  const Rule* rule = GetParam();
  const std::string bad(rule->bad), good(rule->good);
  const Report before = lint_by(rule, bad);
  const std::vector<FixedFile> fixed = apply_fixes(before, rule->fix_safety);
  if (rule->fix_safety == FixSafety::none) {
    for (const Finding& finding : before.findings)
      EXPECT_TRUE(finding.fix.edits.empty()) << "set the fix_safety of the rule";
    return;
  }
  ASSERT_EQ(fixed.size(), 1u) << "the bad example has no fix";
  EXPECT_EQ(fixed[0].text, good);
  EXPECT_TRUE(fixed[0].refused.empty() && fixed[0].overlapping.empty());
  EXPECT_EQ(count(lint(fixed[0].text), rule), 0u);
  for (const Finding* finding : fixed[0].fixed) {
    EXPECT_EQ(finding->safety(), rule->fix_safety);
    for (const Edit& edit : finding->fix.edits) {
      EXPECT_NE(finding->fix_text().find(written(edit)), std::string::npos) << finding->fix_text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, FixOfRule, testing::ValuesIn(all_rules().begin(), all_rules().end()),
                         [](const testing::TestParamInfo<const Rule*>& info) {
                           std::string name(info.param->id);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Fix, KeepsCommentsAnchorsAndQuotes) {
  const std::string text =
      "# pool\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g}\nspec:\n"
      "  limits: {nvidia.com/gpu: 8}\n  disruption: &d  # why\n    consolidationPolicy: \"WhenEmptyOrUnderutilized\"  "
      "# cheap\n"
      "    consolidateAfter: 1h\n";
  EXPECT_EQ(fixed_text(text, FixSafety::safe), text) << "it changes the behaviour of the pool";
  EXPECT_EQ(fixed_text(text, FixSafety::unsafe), replaced(text, "WhenEmptyOrUnderutilized", "WhenEmpty"));
}

TEST(Fix, JsonStaysJson) {
  const std::string text =
      "{\n  \"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\", \"metadata\": {\"name\": \"g\"},\n"
      "  \"spec\": {\n    \"limits\": {\"nvidia.com/gpu\": 8},\n"
      "    \"disruption\": {\"consolidationPolicy\": \"WhenEmptyOrUnderutilized\"}\n  }\n}\n";
  EXPECT_EQ(fixed_text(text, FixSafety::unsafe, "a.json"),
            replaced(text, "\"WhenEmptyOrUnderutilized\"", "\"WhenEmpty\", \"consolidateAfter\": \"1h\""));
}

TEST(Fix, AMetricIsRenamedOnlyIfOneNameIsNearest) {
  const auto scaled_by = [](const std::string& metric) {
    return "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
           "  minReplicaCount: 1\n  maxReplicaCount: 8\n  triggers:\n    - type: prometheus\n      metadata: "
           "{serverAddress: "
           "'http://p:9090', query: 'sum(" +
           metric + "{namespace=\"a\"})', threshold: \"5\"}\n";
  };
  const std::string misspelt = scaled_by("vllm:num_request_waiting");
  EXPECT_EQ(fixed_text(misspelt, FixSafety::safe), misspelt);
  EXPECT_EQ(fixed_text(misspelt, FixSafety::unsafe), scaled_by("vllm:num_requests_waiting"));
  const std::string ambiguous = scaled_by("vllm:num_requests");
  EXPECT_EQ(fixed_text(ambiguous, FixSafety::unsafe), ambiguous);
}

/// A minimum of 1 makes cooldownPeriod ineffective. The next run removes cooldownPeriod.
TEST(Fix, AFindingThatAnEditCausesIsLeftForTheNextRun) {
  const std::string text =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: 0\n  maxReplicaCount: 8\n  cooldownPeriod: 300\n  triggers:\n    - type: prometheus\n"
      "      metadata: {query: 'sum(vllm:num_requests_waiting{namespace=\"a\"})', threshold: \"5\"}\n";
  const std::string once = replaced(text, "minReplicaCount: 0", "minReplicaCount: 1");
  EXPECT_EQ(fixed_text(text, FixSafety::unsafe), once);
  EXPECT_EQ(fixed_text(once, FixSafety::unsafe), replaced(once, "  cooldownPeriod: 300\n", ""));
}

/// An edit that two rules request is made once. If they request different edits of one value, only the first is made.
TEST(Fix, EqualEditsAreMadeOnceAndConflictingOnesWait) {
  Report report = lint(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: "
      "Deployment, name: a}, minReplicas: 0, maxReplicas: 4}\n");
  std::erase_if(report.findings, [](const Finding& finding) { return finding.fix.edits.empty(); });
  ASSERT_FALSE(report.findings.empty());
  report.findings.resize(1, report.findings[0]);
  report.findings.resize(3, report.findings[0]);
  report.findings[2].fix.edits[0].text = "2";
  const std::vector<FixedFile> fixed = apply_fixes(report, FixSafety::unsafe);
  ASSERT_EQ(fixed.size(), 1u);
  EXPECT_EQ(fixed[0].fixed.size(), 2u);
  EXPECT_EQ(fixed[0].overlapping.size(), 1u);
  EXPECT_NE(fixed[0].text.find("minReplicas: 1"), std::string::npos);
}

TEST(Fix, ASafeFixIsMadeBeforeAnUnsafeFixOfTheSameText) {
  const std::string text =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: \"0\"\n  maxReplicaCount: 4\n  triggers:\n    - type: prometheus\n"
      "      metadata: {query: 'sum(vllm:num_requests_waiting{namespace=\"a\"})', threshold: \"5\"}\n";
  const std::string safely = replaced(text, "\"0\"", "0");
  EXPECT_EQ(fixed_text(text, FixSafety::safe), safely);
  EXPECT_EQ(fixed_text(text, FixSafety::unsafe), safely);
  EXPECT_EQ(fixed_text(safely, FixSafety::unsafe), replaced(text, "\"0\"", "1"));
}

/// A query uses the engine's name of the metric. Elsewhere an adapter sets the name and may still serve the old one.
TEST(Fix, ARenamedMetricIsASafeFixOnlyInAQuery) {
  const std::string query =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: 1\n  maxReplicaCount: 4\n  triggers:\n    - type: prometheus\n"
      "      metadata: {query: 'sum(vllm:gpu_cache_usage_perc{namespace=\"a\"})', threshold: \"0.8\"}\n";
  EXPECT_EQ(fixed_text(query, FixSafety::safe), replaced(query, "gpu_cache", "kv_cache"));
  const std::string name =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {kind: "
      "Deployment, name: a}\n  minReplicas: 1\n  maxReplicas: 4\n  metrics:\n    - type: Pods\n      pods: {metric: "
      "{name: vllm_gpu_cache_usage_perc}, target: {type: AverageValue, averageValue: \"0.8\"}}\n";
  EXPECT_EQ(fixed_text(name, FixSafety::safe), name);
  EXPECT_EQ(fixed_text(name, FixSafety::unsafe), replaced(name, "gpu_cache", "kv_cache"));
  const std::string rate = replaced(query, "vllm:gpu_cache_usage_perc", "vllm:avg_prompt_throughput_toks_per_s");
  EXPECT_EQ(fixed_text(rate, FixSafety::unsafe), rate) << "the replacement of the rate is a counter";
}

/// EBS refuses a throughput of more than a quarter of a MiB/s per IOPS of the volume.
TEST(Fix, TheThroughputIsOneThatEbsAccepts) {
  const auto fixed = [](const std::string& volume) {
    return fixed_text(
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  amiSelectorTerms: "
        "[{alias: "
        "al2023@v20250519}]\n  blockDeviceMappings: [{ebs: {volumeType: gp3" +
            volume +
            "}}]\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {limits: "
            "{nvidia.com/gpu: 8}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: "
            "EC2NodeClass, name: a}}}}\n",
        FixSafety::unsafe);
  };
  EXPECT_NE(fixed(", volumeSize: 500Gi").find("volumeSize: 500Gi, throughput: 750}"), std::string::npos);
  EXPECT_NE(fixed(", iops: 3600").find("iops: 3600, throughput: 900}"), std::string::npos);
  EXPECT_NE(fixed(", iops: 16000").find("iops: 16000, throughput: 1000}"), std::string::npos);
}

TEST(Fix, AValueThatIsWrittenElsewhereIsNotEdited) {
  const std::string text =
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g, annotations: {a: &p "
      "WhenEmptyOrUnderutilized}}\n"
      "spec: {limits: {nvidia.com/gpu: 8}, disruption: {consolidationPolicy: *p}}\n";
  EXPECT_GT(count(lint(text), find_rule("gpu-consolidation-underutilized")), 0u);
  EXPECT_TRUE(apply_fixes(lint(text), FixSafety::unsafe).empty());
}

TEST(Fix, TheDifferenceHasTheFormatOfPatch) {
  EXPECT_EQ(unified_diff("f", "a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nX\ne\nf\ng\n"),
            "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+X\n e\n f\n g\n");
  EXPECT_EQ(unified_diff("f", "a\nb\n", "b\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-a\n b\n");
  EXPECT_EQ(unified_diff("f", "a\n", "a\n"), "");
  EXPECT_EQ(unified_diff("f", "a\nb", "a\nc"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of "
            "file\n");
}

/// The anchor's value belongs to both keys, so an edit for one key would also change the other key.
TEST(Fix, AnEditThatReachesAnotherValueIsRefused) {
  const Report report = lint(
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: g}\nspec:\n  limits: {nvidia.com/gpu: 8}\n"
      "  disruption: {consolidationPolicy: &p WhenEmptyOrUnderutilized, consolidateAfter: 1h}\n"
      "  template: {metadata: {annotations: {policy: *p}}}\n");
  const auto found = std::ranges::find(report.findings, find_rule("gpu-consolidation-underutilized"), &Finding::rule);
  ASSERT_NE(found, report.findings.end());
  EXPECT_FALSE(can_be_fixed(*found));
  const std::vector<FixedFile> fixed = apply_fixes(report, FixSafety::unsafe);
  ASSERT_EQ(fixed.size(), 1u);
  EXPECT_EQ(fixed[0].refused.size(), 1u);
  EXPECT_EQ(fixed[0].text, fixed[0].file->text);
}

TEST(Fix, AChangeOutsideTheEditsIsDetected) {
  const std::string before = "a: 1\nb: 2\n";
  const auto one = manifest::Documents::parse(before);
  const std::string after = "a: 3\nb: 4\n";
  const auto two = manifest::Documents::parse(after);
  EXPECT_FALSE(differ_only_at(one.all()[0].root, two.all()[0].root, {{{3, 4}, "3"}}));
  EXPECT_TRUE(differ_only_at(one.all()[0].root, two.all()[0].root, {{{3, 4}, "3"}, {{8, 9}, "4"}}));
}

}  // namespace
}  // namespace capstan::lint::fix_test
