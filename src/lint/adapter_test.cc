#include "lint/adapter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lint/run.h"

namespace capstan::lint::adapter_test {
namespace {

std::string rule(const std::string& series, const std::string& as, const std::string& query) {
  return "    - seriesQuery: '" + series +
         "'\n      resources: {template: '<<.Resource>>'}\n      name: {matches: '^(.*)$', as: '" + as +
         "'}\n      metricsQuery: '" + query + "'\n";
}

std::string config_map(const std::string& rules) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: adapter}\ndata:\n  config.yaml: |\n    # what HPAs get\n   "
         " "
         "rules:\n" +
         rules;
}

std::string values(const std::string& rules) { return "rules:\n  default: false\n  custom:\n" + rules; }

std::string hpa(const std::string& type, const std::string& metric) {
  return "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec:\n  scaleTargetRef: "
         "{kind: "
         "Deployment, name: a}\n  maxReplicas: 4\n  metrics:\n  - {type: " +
         type + ", " + (type == "Pods" ? "pods" : "external") + ": {metric: {name: " + metric +
         "}, target: {type: AverageValue, averageValue: 5}}}\n";
}

const std::string kSum = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)";

/// Returns the text that a rule's first finding points at; empty if it finds nothing.
std::string found(std::vector<Text> texts, std::string_view rule) {
  Options options;
  options.advice = true;
  const Report report = lint_texts(std::move(texts), options);
  for (const Finding& finding : report.findings) {
    if (finding.rule->id == rule) return finding.file->text.substr(finding.span.begin, finding.span.size());
  }
  return "";
}

TEST(Adapter, ReadsRulesOfAConfigMapAndOfChartValues) {
  const std::string waiting = rule("vllm:num_requests_waiting", "vllm_${1}_now", kSum);
  const std::string dead = rule("{__name__=~\"^vllm:gpu_cache_usage_perc$\"}", "cache", kSum);
  for (const std::string& text : {config_map(waiting), values(waiting)}) {
    EXPECT_EQ(found({{"a.yaml", text}}, "metric-removed"), "");
    EXPECT_EQ(found({{"a.yaml", text}}, "promql-syntax"), "");
  }
  for (const std::string& text : {config_map(dead), values(dead)}) {
    EXPECT_EQ(found({{"a.yaml", text}}, "metric-removed"), "{__name__=~\"^vllm:gpu_cache_usage_perc$\"}");
  }
}

TEST(Adapter, TemplatesAreCheckedAfterTheyAreFilled) {
  const auto check = [](const std::string& series, const std::string& query, std::string_view rule_id) {
    return found({{"a.yaml", config_map(rule(series, "x", query))}}, rule_id);
  };
  const std::string rate = "sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)";
  EXPECT_EQ(check("vllm:num_requests_waiting", rate, "rate-of-gauge"), "rate(<<.Series>>{<<.LabelMatchers>>}[2m])");
  EXPECT_EQ(check("vllm:prompt_tokens_total", rate, "rate-of-gauge"), "");
  EXPECT_EQ(check("vllm:prompt_tokens_total", rate, "raw-counter-as-signal"), "");
  EXPECT_EQ(check("vllm:prompt_tokens_total", kSum, "raw-counter-as-signal"), "<<.Series>>{<<.LabelMatchers>>}");
  EXPECT_EQ(check("vllm:num_requests_waiting", "sum(<<.Series>>{<<.LabelMatchers>>}", "promql-syntax"),
            "'sum(<<.Series>>{<<.LabelMatchers>>}'");
  EXPECT_EQ(check("vllm:num_requests_waiting", "sum(<<.Series>>{<<.LabelValuesByName>>})", "promql-syntax"), "");
  EXPECT_EQ(check("vllm:num_request_waiting", kSum, "metric-unknown"), "vllm:num_request_waiting");
  EXPECT_EQ(check("DCGM_FI_DEV_GPU_UTIL{pod!=\"\"}", kSum, "gpu-util-scaling-signal"), "DCGM_FI_DEV_GPU_UTIL");
}

TEST(Adapter, ANameFromAnAdapterIsNotCheckedAsAMetricOfTheEngine) {
  const std::string removed = hpa("External", "vllm_gpu_cache_usage_perc");
  const std::string adapter = config_map(rule("vllm:kv_cache_usage_perc", "vllm_gpu_cache_usage_perc", kSum));
  EXPECT_EQ(found({{"a/hpa.yaml", removed}}, "metric-removed"), "vllm_gpu_cache_usage_perc");
  EXPECT_EQ(found({{"a/hpa.yaml", removed}, {"a/cm.yaml", adapter}}, "metric-removed"), "");
  EXPECT_EQ(found({{"a/hpa.yaml", removed}, {"b/cm.yaml", adapter}}, "metric-removed"), "vllm_gpu_cache_usage_perc");
  const std::string duty = hpa("Pods", "node_gpu_jobs");
  const std::string renamed = values(rule("node_gpu_jobs", "${1}", kSum));
  EXPECT_NE(found({{"a/hpa.yaml", duty}}, "pods-metric-not-on-target-pods"), "");
  EXPECT_EQ(found({{"a/hpa.yaml", duty}, {"a/values.yaml", renamed}}, "pods-metric-not-on-target-pods"), "");
}

TEST(Adapter, OtherObjectsHaveNoRules) {
  const Value& none = Value::missing();
  EXPECT_FALSE(is_adapter_values(none));
  File file("a.yaml",
            "apiVersion: v1\nkind: ConfigMap\ndata: {a: 'seriesQuery: not a list', b: 'rules: [seriesQuery]'}\n");
  file.documents = manifest::Documents::parse(file.text);
  std::vector<Object> objects;
  find_objects(file, file.documents.all()[0].root, objects);
  EXPECT_TRUE(AdapterRules(objects.at(0)).rules().empty());
}

}  // namespace
}  // namespace capstan::lint::adapter_test
