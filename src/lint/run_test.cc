#include "lint/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lint/render/render.h"

namespace capstan::lint::run_test {
namespace {

using Json = nlohmann::json;

/// Lints the texts. An image from the frozen registry is an error unless the options say otherwise.
Report lint(std::vector<Text> texts, Options options = {}) {
  options.severities.emplace("image-registry-frozen", Severity::error);
  return lint_texts(std::move(texts), options);
}

std::vector<std::string> found(const Report& report) {
  std::vector<std::string> rules;
  for (const Finding& finding : report.findings) {
    const auto place = finding.file->lines().at(finding.span.begin);
    rules.push_back(std::string(finding.rule->id) + "@" + std::to_string(place.line) + ":" +
                    std::to_string(place.column));
  }
  return rules;
}

const std::string kFrozen =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: k8s.gcr.io/pause:3.5}]}\n";

TEST(Run, ReadsEveryFormOfInput) {
  struct Row {
    const char* path;
    std::string text;
    std::vector<std::string> found;
  };
  const Row rows[] = {
      {"a.yaml", kFrozen, {"image-registry-frozen@4:38"}},
      {"list.yaml",
       "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec: {containers: [{image: "
       "k8s.gcr.io/a}]}\n",
       {"image-registry-frozen@6:31"}},
      {"a.json",
       "{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n \"spec\": {\"containers\": [{\"image\": \"k8s.gcr.io/a\"}]}}\n",
       {"image-registry-frozen@2:36"}},
      {"a.md", "# Say\n\n```yaml\n" + kFrozen + "```\n", {"image-registry-frozen@7:38"}},
      {"two.yaml", "a: [1\n---\n" + kFrozen, {"yaml-syntax@2:1", "image-registry-frozen@6:38"}},
      {"crlf.yaml",
       "apiVersion: v1\r\nkind: Pod\r\nspec: {containers: [{image: k8s.gcr.io/a}]}\r\n",
       {"image-registry-frozen@3:29"}},
      {"package.json", "{\"name\": \"x\", // comment\n", {}},
  };
  for (const Row& row : rows) EXPECT_EQ(found(lint({{row.path, row.text, true}})), row.found) << row.path;
}

TEST(Run, TemplatesAndPatchesAreSkippedAndCounted) {
  const Report report = lint({{"t.yaml", "kind: Pod\nspec: {{ .Values.x }}\n", true},
                              {"p.yaml",
                               "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: "
                               "{containers: [{name: a}]}}}\n",
                               true}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.summary.templates, 1u);
  EXPECT_EQ(report.summary.patches, 1u);
  EXPECT_NE(summary_text(report).find("skipped: 1 template, 1 patch"), std::string::npos);
}

/// A broken `.json` file that the user named is an error. A broken file found in a folder may belong to another tool.
TEST(Run, ABrokenJsonIsAnErrorIfAPersonNamedIt) {
  const struct {
    const char* path;
    const char* text;
    bool named;
    const char* error;
  } rows[] = {
      {"a.json", "{\"x\": 1,\n \"y\" 2}\n", true, "a.json:2:6: is not JSON: found number literal, expected ':'"},
      {"a.json", "{\"x\": 1,\n \"y\" 2}\n", false, ""},
      {"a.json", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"", true,
       "a.json:1:35: is not JSON: found end of input, expected '}'"},
      {"a.json", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\"} // c", true, "a.json:1:37: is not JSON: invalid literal"},
      {"tsconfig.json", "{\n  // settings\n  \"strict\": true,\n}\n", true, ""},
      {"chart.json", "{\"kind\": {{ .Values.kind }}}\n", true, ""},
      {"two.json", "{\"a\": 1}\n{\"b\": 2}\n", true, ""},
  };
  for (const auto& row : rows) {
    const Report report = lint({{row.path, row.text, row.named}});
    EXPECT_EQ(report.unreadable.empty() ? "" : report.unreadable[0].text(), row.error) << row.path << row.text;
    if (report.unreadable.empty()) continue;
    EXPECT_TRUE(report.findings.empty()) << "it is reported once";
  }
}

TEST(Run, ABinaryFileIsNotATemplate) {
  const std::string with_nul("\0\1{{ .Values.x }}\n", 18);
  for (const std::string& bytes :
       {with_nul, std::string("a: {{ .Values.x }} \xff\xfe\n"), std::string("\x02<% {{\n")}) {
    const Report report = lint({{"a.yaml", bytes, true}});
    EXPECT_EQ(report.summary.templates, 0u);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].rule->id, "yaml-syntax");
  }
}

TEST(Run, ATextWithoutIndentationIsOneFindingAndIsSearched) {
  const std::string flat =
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\nname: gpu\nspec:\ndisruption:\n"
      "consolidationPolicy: WhenEmptyOrUnderutilized\n---\nquery: max(vllm:gpu_cache_usage_perc)\n";
  EXPECT_EQ(found(lint({{"a.txt", flat, true}})),
            (std::vector<std::string>{"yaml-structure-lost@1:1", "gpu-consolidation-underutilized@7:22",
                                      "metric-removed@9:12"}));
  const std::string numbered = "1apiVersion: v1\n2kind: Pod\n3metadata:\n4 name: a\n5 image: k8s.gcr.io/pause:3.5\n";
  EXPECT_EQ(found(lint({{"a.txt", numbered, true}})),
            (std::vector<std::string>{"yaml-structure-lost@1:2", "image-registry-frozen@5:10"}));
}

TEST(Run, AFindingIsAcceptedOnlyWithAReason) {
  const auto with = [](const std::string& comment) {
    return "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: k8s.gcr.io/pause:3.5" + comment + "\n";
  };
  EXPECT_TRUE(found(lint({{"a.yaml", with("  # capstan:ignore image-registry-frozen mirrored here"), true}})).empty());
  EXPECT_EQ(found(lint({{"a.yaml", with("  # capstan:ignore image-registry-frozen"), true}})).size(), 2u);
  EXPECT_EQ(found(lint({{"a.yaml", with("  # capstan:ignore fractional-gpu why"), true}})).size(), 2u);
  EXPECT_EQ(found(lint({{"a.yaml", with("  # capstan:ignore no-such why"), true}})).size(), 2u);
  const std::string above =
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    # capstan:ignore image-registry-frozen mirrored\n    - "
      "image: k8s.gcr.io/a\n";
  EXPECT_TRUE(found(lint({{"a.yaml", above, true}})).empty());
  const std::string annotated =
      "apiVersion: v1\nkind: Pod\nmetadata: {annotations: {lint.capstan.dev/ignore.image-registry-frozen: mirrored}}\n"
      "spec: {containers: [{image: k8s.gcr.io/a}]}\n";
  const Report report = lint({{"a.yaml", annotated, true}});
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.summary.suppressed, 1u);
}

TEST(Run, TheUserSetsSeverities) {
  Options options;
  options.severities["image-registry-frozen"] = Severity::info;
  EXPECT_EQ(lint({{"a.yaml", kFrozen, true}}, options).findings.at(0).severity, Severity::info);
  options.severities["image-registry-frozen"] = Severity::off;
  EXPECT_TRUE(lint({{"a.yaml", kFrozen, true}}, options).findings.empty());
}

TEST(Run, JoinsObjectsThatAreDeployedTogether) {
  const std::string hpa =
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: "
      "Deployment, name: llm}, maxReplicas: 4}\n";
  const std::string scaled =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: b}\nspec: {scaleTargetRef: {name: llm}, "
      "maxReplicaCount: 4}\n";
  EXPECT_EQ(found(lint({{"app/a.yaml", hpa + "---\n" + scaled, true}})),
            (std::vector<std::string>{"two-autoscalers-one-target@9:31"}));
  EXPECT_TRUE(found(lint({{"app/a.yaml", hpa, true}, {"app/b.yaml", scaled, true}})).empty())
      << "a common folder is no evidence";
}

TEST(Run, TheSummaryNamesKindsThatWereNotRead) {
  const auto of_kind = [](const std::string& kind) { return "---\napiVersion: example.com/v1\nkind: " + kind + "\n"; };
  const Report two = lint({{"a.yaml", of_kind("Foo") + of_kind("Bar") + of_kind("Foo")}});
  EXPECT_EQ(summary_text(two), "no finding in 1 file (3 objects); 2 kinds not read (Bar.example.com, Foo.example.com)");
  EXPECT_EQ(Json::parse(to_json(two))["summary"]["kinds_not_read"],
            (Json{{"Bar.example.com", 1}, {"Foo.example.com", 2}}));
  const Report many = lint({{"a.yaml", of_kind("A") + of_kind("B") + of_kind("C") + of_kind("D") + of_kind("E")}});
  EXPECT_NE(summary_text(many).find("5 kinds not read (A.example.com, B.example.com, C.example.com and 2 more)"),
            std::string::npos);
  EXPECT_TRUE(Json::parse(to_json(lint({{"a.yaml", kFrozen}})))["summary"]["kinds_not_read"].empty());
}

TEST(Run, EveryOutputHasTheSameFindings) {
  const Report report = lint({{"d/a.yaml", kFrozen, true}});
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["format_version"], 1);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["rule"], "image-registry-frozen");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["file"], "d/a.yaml");
  EXPECT_EQ(finding["line"], 4);
  EXPECT_EQ(finding["column"], 38);
  EXPECT_EQ(finding["end_line"], 4);
  EXPECT_EQ(finding["end_column"], 58);
  EXPECT_EQ(finding["fix"]["description"], "replace k8s.gcr.io/ with registry.k8s.io/");
  EXPECT_EQ(finding["fix"]["safety"], "unsafe");
  EXPECT_EQ(finding["fix"]["edits"][0]["text"], "registry.k8s.io/");
  EXPECT_EQ(json["summary"]["safe_fixes"], 0);
  EXPECT_EQ(json["summary"]["unsafe_fixes"], 1);
  const Json sarif = Json::parse(to_sarif(report, "1"));
  const Json& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "image-registry-frozen");
  EXPECT_EQ(result["fixes"][0]["properties"]["safety"], "unsafe");
  EXPECT_EQ(sarif["runs"][0]["tool"]["driver"]["rules"][0]["properties"]["fixSafety"], "unsafe");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startColumn"], 38);
  EXPECT_EQ(to_github(report),
            "::error file=d/a.yaml,line=4,endLine=4,col=38,endColumn=58,title=image-registry-frozen::k8s.gcr.io has "
            "been frozen since April 2023\n");
  EXPECT_NE(to_junit(report).find("<testsuite name=\"capstan lint\" tests=\"1\" failures=\"1\">"), std::string::npos);
  EXPECT_NE(to_statistics(report).find("1  error    image-registry-frozen  (1 by --unsafe-fixes)"), std::string::npos);
  EXPECT_EQ(to_concise(report),
            "d/a.yaml:4:38: error: k8s.gcr.io has been frozen since April 2023 [image-registry-frozen]\n");
  EXPECT_EQ(to_text(report, false),
            "error[image-registry-frozen]: k8s.gcr.io has been frozen since April 2023\n"
            " --> d/a.yaml:4:38\n"
            "  |\n"
            "4 | spec: {containers: [{name: a, image: k8s.gcr.io/pause:3.5}]}\n"
            "  |                                      ^^^^^^^^^^^^^^^^^^^^\n"
            "  = in Pod a\n"
            "  = fix (--unsafe-fixes): replace k8s.gcr.io/ with registry.k8s.io/\n\n"
            "1 error in 1 file (1 object); 1 unsafe fix (--unsafe-fixes)\n"
            "why: capstan lint --explain image-registry-frozen\n");
}

TEST(Run, TheSummaryCountsHiddenAdviceAndNamesTheOption) {
  const std::string scaler =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: 1\n  maxReplicaCount: 4\n  triggers:\n  - type: prometheus\n    metadata: {query: "
      "'sum(vllm:num_requests_waiting{namespace=\"a\"})', threshold: \"5\", serverAddress: 'http://a'}\n";
  const Report hidden = lint({{"a.yaml", scaler, true}});
  Options options;
  options.advice = true;
  const Report shown = lint_texts({{"a.yaml", scaler, true}}, options);
  ASSERT_GT(shown.findings.size(), 1u);
  EXPECT_EQ(hidden.summary.hidden_advice, shown.findings.size() - hidden.findings.size());
  EXPECT_NE(summary_text(hidden).find("pieces of advice hidden (--advice)"), std::string::npos) << summary_text(hidden);
  EXPECT_EQ(Json::parse(to_json(hidden))["summary"]["hidden_advice"], hidden.summary.hidden_advice);
  EXPECT_EQ(shown.summary.hidden_advice, 0u);
}

TEST(Run, TheLineWhyNamesAnErrorIfThereIsOne) {
  const std::string mean =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, "
      "minReplicaCount: 1, maxReplicaCount: 4, triggers: [{type: prometheus, metadata: {serverAddress: 'http://a', "
      "query: 'avg(vllm:num_requests_waiting)', threshold: \"5\"}}]}\n---\n";
  const std::string text = to_text(lint({{"d/a.yaml", mean + kFrozen, true}}), false);
  EXPECT_TRUE(text.starts_with("warning[mean-under-averagevalue]")) << text;
  EXPECT_TRUE(text.ends_with("why: capstan lint --explain image-registry-frozen\n")) << text;
}

TEST(Run, TheSummaryCountsSafeAndUnsafeFixes) {
  const std::string scaler =
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n  scaleTargetRef: {name: a}\n"
      "  minReplicaCount: 1\n  maxReplicaCount: 4\n"
      "  advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: 10}}}}\n"
      "  triggers:\n    - type: prometheus\n      metadata: {metricName: a, "
      "query: 'sum(vllm:gpu_cache_usage_perc{namespace=\"a\"})', threshold: \"0.8\"}\n"
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {matchLabels: {a: b}}, "
      "template: {spec: {containers: [{name: a, image: 'vllm/vllm-openai:v0.20.0', resources: {limits: "
      "{nvidia.com/gpu: 1}}}]}}}\n";
  const Report report = lint({{"a.yaml", scaler, true}});
  EXPECT_NE(summary_text(report).find("; 2 safe fixes (--fix) and 1 unsafe fix (--unsafe-fixes)"), std::string::npos)
      << to_text(report, false);
}

/// A concise finding is one line, whatever its value contains.
TEST(Run, AConciseFindingIsOneLine) {
  const Report report = lint({{"a.yaml",
                               "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec:\n"
                               "  scaleTargetRef: {name: a}\n  minReplicaCount: \"a\\nb\"\n",
                               true}});
  const std::string text = to_concise(report);
  EXPECT_EQ(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(report.findings.size())) << text;
  EXPECT_NE(text.find("a.yaml:6:20: error: spec.minReplicaCount is \"a.b\", expected a whole number without quotes "
                      "[wrong-type]\n"),
            std::string::npos)
      << text;
}

TEST(Run, FilesAreReadOnAllCoresWithTheSameResult) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("lint_run_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::vector<Candidate> files;
  for (int i = 0; i < 200; ++i) {
    files.push_back({(folder / (std::to_string(i) + ".yaml")).string(), true});
    std::ofstream(files.back().path) << (i % 3 == 0 ? kFrozen : "just: values\n");
  }
  files.push_back({(folder / "none.yaml").string(), true});
  Options one, several;
  one.severities["image-registry-frozen"] = several.severities["image-registry-frozen"] = Severity::error;
  one.threads = 1;
  several.threads = 8;
  const Report a = lint_files(files, one);
  EXPECT_EQ(a.findings.size(), 67u);
  EXPECT_EQ(a.unreadable.size(), 1u);
  EXPECT_EQ(to_json(a), to_json(lint_files(files, several)));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace capstan::lint::run_test
