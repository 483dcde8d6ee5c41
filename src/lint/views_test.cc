#include <gtest/gtest.h>

#include <string>

#include "lint/embedded.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/query.h"
#include "lint/scalers.h"
#include "promql/parser.h"

// Tests of what rules read from objects: pods, pools, scalers, queries, files inside ConfigMaps, and facts.
namespace capstan::lint::views_test {
namespace {

struct Parsed {
  explicit Parsed(const std::string& yaml) : file("a.yaml", yaml) {
    file.documents = manifest::Documents::parse(file.text);
    for (const manifest::Document& document : file.documents.all()) find_objects(file, document.root, objects);
  }
  const Object& operator[](std::size_t i) const { return objects.at(i); }

  File file;
  std::vector<Object> objects;
};

TEST(Pods, CountsTheGpusOfPods) {
  const Parsed parsed(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
      "spec: {template: {spec: {containers: [{name: x}, {name: y, resources: {limits: {nvidia.com/gpu: '4', "
      "nvidia.com/mig-1g.5gb: 1}}}]}}}\n"
      "---\napiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: [{resources: {requests: "
      "{nvidia.com/gpu: 0}}}]}}}\n");
  const Pods pods = pods_of(parsed[0]);
  ASSERT_EQ(pods.size(), 1u);
  EXPECT_EQ(gpus_of(pods[0]), 4);
  EXPECT_TRUE(gpu_container(pods[0])["name"].is("y"));
  EXPECT_TRUE(serves_on_gpu(parsed[0]));
  EXPECT_TRUE(is_partial(parsed[0]));
  EXPECT_FALSE(wants_gpu(parsed[1]));
}

TEST(Pods, ReadsTheSleepOfAPreStopHook) {
  const auto seconds = [](const std::string& hook) {
    const Parsed parsed("apiVersion: v1\nkind: Pod\nspec: {containers: [{lifecycle: {preStop: " + hook + "}}]}\n");
    return pre_stop_sleep_s(**containers_of(pods_of(parsed[0])[0]).begin());
  };
  EXPECT_EQ(seconds("{exec: {command: [sh, -c, sleep 5]}}"), 5);
  EXPECT_EQ(seconds("{exec: {command: [sleep, '20']}}"), 20);
  EXPECT_EQ(seconds("{sleep: {seconds: 7}}"), 7);
  EXPECT_FALSE(seconds("{httpGet: {path: /drain}}"));
  EXPECT_FALSE(seconds("{exec: {command: [sh, -c, 'while busy; do sleep 5; done']}}"));
  EXPECT_EQ(seconds("{exec: {command: [sh, -c, 'touch /tmp/abandoned && sleep 15s']}}"), 15)
      << "\"done\" is only part of a name";
  EXPECT_EQ(seconds("{exec: {command: [sh, -c, 'echo sleeping; exec sleep 2m']}}"), 120);
  EXPECT_FALSE(seconds("{exec: {command: [sh, -c, 'sleep $SECONDS']}}"));
  EXPECT_FALSE(seconds("{exec: {command: []}}"));
}

TEST(Pools, RecognisesPoolsOfGpus) {
  const auto pool = [](const std::string& spec) {
    return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: " + spec + "\n";
  };
  const auto is_gpu = [&](const std::string& spec) { return gpu_pool_of(Parsed(pool(spec))[0]).has_value(); };
  const auto with = [](const std::string& requirement) {
    return "{template: {spec: {requirements: [" + requirement + "]}}}";
  };
  EXPECT_TRUE(is_gpu("{limits: {nvidia.com/gpu: 1}}"));
  EXPECT_FALSE(is_gpu("{limits: {nvidia.com/gpu: 0}}"));
  EXPECT_TRUE(is_gpu("{template: {spec: {taints: [{key: nvidia.com/gpu}]}}}"));
  EXPECT_TRUE(is_gpu(with("{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e]}")));
  EXPECT_FALSE(is_gpu(with("{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6e, m5]}")));
  EXPECT_FALSE(is_gpu(with("{key: karpenter.k8s.aws/instance-family, operator: NotIn, values: [g6e]}")));
  EXPECT_FALSE(is_gpu(with("{key: karpenter.k8s.aws/instance-gpu-count, operator: DoesNotExist}")));
  EXPECT_TRUE(is_gpu(with("{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}")));
  EXPECT_FALSE(is_gpu(with("{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}")));
}

TEST(Pools, FamiliesAreThoseThatAllRequirementsAllow) {
  const Parsed parsed(
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {spec: {requirements: ["
      "{key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}, "
      "{key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [l40s]}]}}}\n");
  const auto families = families_of(*gpu_pool_of(parsed[0]));
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0]->family, "g6e");
  EXPECT_EQ(seconds_of("1h30m"), 5400);
  EXPECT_FALSE(seconds_of("Never"));
}

TEST(Scalers, ReadsHpasAndScaledObjectsAlike) {
  const Parsed parsed(
      "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {scaleTargetRef: {name: a}, maxReplicas: 3, "
      "metrics: ["
      "{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: '5'}}},"
      "{type: Object, object: {metric: {name: o}, target: {type: Value, value: '1'}}}]}\n"
      "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec: {scaleTargetRef: {name: a, kind: StatefulSet}, "
      "triggers: ["
      "{type: prometheus, metricType: Value, metadata: {query: up, threshold: '2'}}, {type: cpu, metadata: {value: "
      "'60'}}]}\n");
  const auto hpa = scaler_of(parsed[0]);
  EXPECT_EQ(hpa->target_kind, "Deployment");
  EXPECT_EQ(hpa->min_replicas, 1);
  ASSERT_EQ(hpa->signals.size(), 2u);
  EXPECT_TRUE(hpa->signals[0].is_averaged);
  EXPECT_FALSE(hpa->signals[1].is_averaged);
  EXPECT_TRUE(hpa->signals[1].target->is("1"));
  const auto scaled = scaler_of(parsed[1]);
  EXPECT_EQ(scaled->target_kind, "StatefulSet");
  EXPECT_EQ(scaled->min_replicas, 0);
  EXPECT_FALSE(scaled->signals[0].is_averaged);
  EXPECT_EQ(scaled->signals[1].source, SignalSource::resource);
}

TEST(Scalers, ReadsObjectsThatScaleThemselves) {
  const Parsed parsed(
      "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nspec: {predictor: {minReplicas: 0, maxReplicas: "
      "0, "
      "autoScaling: {metrics: [{type: External, external: {metric: {backend: prometheus, query: "
      "'vllm:num_requests_running'}, target: {type: Value, value: '2'}}}]}, model: {resources: {limits: "
      "{nvidia.com/gpu: 1}}}}}\n"
      "---\napiVersion: apps.nvidia.com/v1alpha1\nkind: NIMService\nspec: {scale: {hpa: {minReplicas: 2, maxReplicas: "
      "4, "
      "metrics: [{type: Pods, pods: {metric: {name: gpu_cache_usage_perc}, target: {type: AverageValue, averageValue: "
      "'0.5'}}}]}}, resources: {limits: {nvidia.com/gpu: 1}}}\n"
      "---\napiVersion: kubeai.org/v1\nkind: Model\nspec: {minReplicas: 1, maxReplicas: 3, resourceProfile: "
      "'cpu:1'}\n");
  const auto service = scaler_of(parsed[0]);
  EXPECT_TRUE(service->scales_itself);
  EXPECT_EQ(service->min_replicas, 0);
  EXPECT_FALSE(*service->max);  // 0 means no bound
  ASSERT_EQ(service->signals.size(), 1u);
  EXPECT_TRUE(service->signals[0].is_query());
  EXPECT_TRUE(service->signals[0].target->is("2"));
  const Set set(parsed.objects, false);
  EXPECT_TRUE(scales_gpu(*service, set));
  const auto nim = scaler_of(parsed[1]);
  EXPECT_EQ(nim->min_replicas, 2);
  EXPECT_TRUE(nim->max->is("4"));
  EXPECT_EQ(nim->signals.at(0).source, SignalSource::pods);
  EXPECT_TRUE(scales_gpu(*nim, set));
  EXPECT_FALSE(scales_gpu(*scaler_of(parsed[2]), set));
}

TEST(Scalers, ReadsTheExpressionsOfPrometheusRules) {
  const Parsed parsed(
      "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec: {groups: [{name: a, rules: [{alert: b, expr: "
      "'x > 1'}, {record: c, expr: 5}]}, {}]}\n");
  EXPECT_EQ(signals_of(parsed[0]).size(), 2u);
  EXPECT_FALSE(scaler_of(parsed[0]));
}

TEST(Query, ComputesTheLabelsOfAResult) {
  const auto labels = [](const std::string& text) {
    const auto parsed = promql::parse(text);
    EXPECT_TRUE(parsed) << text;
    const auto found = labels_of(**parsed);
    return found ? std::to_string(found->size()) : std::string("unknown");
  };
  EXPECT_EQ(labels("sum(a)"), "0");
  EXPECT_EQ(labels("a"), "unknown");
  EXPECT_EQ(labels("rate(a[1m])"), "unknown");
  EXPECT_EQ(labels("sum by (pod, b) (a)"), "2");
  EXPECT_EQ(labels("sum(a) / sum(b)"), "0");
  EXPECT_EQ(labels("sum(a) or vector(0)"), "0");
  EXPECT_EQ(labels("a or vector(0)"), "unknown");
  EXPECT_EQ(labels("histogram_quantile(0.9, sum by (le) (rate(a[1m])))"), "0");
  EXPECT_EQ(labels("topk(1, a)"), "unknown");
  EXPECT_EQ(labels("scalar(a)"), "0");
  EXPECT_EQ(labels("3 * sum(a)"), "0");
}

TEST(Query, FindsPlacesInsideABlockScalar) {
  const Parsed parsed(
      "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec:\n  triggers:\n  - type: prometheus\n    metadata:\n"
      "      query: |\n        sum(\n          vllm:x{a=\"b\"}\n        )\n      threshold: '1'\n");
  std::string found;
  for_each_query(ScalerQueries(parsed[0]), [&](const ScalingSignal&, const Query& query) {
    for (const MetricUse& use : query.metrics()) found = parsed.file.text.substr(use.span.begin, use.span.size());
  });
  EXPECT_EQ(found, "vllm:x");
  EXPECT_EQ(parsed.file.text.find("vllm:x"), parsed.file.text.rfind("vllm:x"));
}

TEST(Embedded, FindsPlacesInsideAnEmbeddedFile) {
  const Parsed parsed("apiVersion: v1\nkind: ConfigMap\ndata:\n  c.yaml: |\n    a:\n      b: 12\n    other: 12\n");
  const auto files = embedded_with(parsed.file, parsed[0]["data"], "other");
  ASSERT_EQ(files.size(), 1u);
  const Span span = files[0].root()["other"].span;
  EXPECT_EQ(span.begin, parsed.file.text.rfind("12"));
  EXPECT_EQ(parsed.file.text.substr(span.begin, span.size()), "12");
}

TEST(Facts, ReadsVersionsInTexts) {
  EXPECT_EQ(minor_of("1.37"), 37u);
  EXPECT_EQ(minor_of("vLLM 0.8 with the V1 engine"), 8u);
  EXPECT_EQ(vllm_minor_of("vllm/vllm-openai:v0.8.5"), 8u);
  EXPECT_FALSE(vllm_minor_of("lmsysorg/sglang:v0.5.2"));
  EXPECT_FALSE(vllm_minor_of("vllm/vllm-openai:latest"));
  for (const std::string_view none : {"", "1", "v", "1.", "x.y"}) EXPECT_FALSE(minor_of(none)) << none;
  for (const std::string_view fact :
       {"hpa-scale-to-zero", "eks-amazon-linux-2-ended", "keda-metricname-ignored", "vllm-shutdown-timeout"}) {
    EXPECT_TRUE(minor_of(since_version(fact))) << fact;
  }
  EXPECT_EQ(since_version("unknown"), "");
}

TEST(Facts, FindsMetricsByAnyOfTheirNames) {
  EXPECT_TRUE(known_metric("vllm:num_requests_waiting")->is_gauge());
  EXPECT_TRUE(known_metric("vllm_kv_cache_usage_perc")->is_ratio());
  EXPECT_EQ(known_metric("vllm:time_to_first_token_seconds_bucket")->type, "histogram");
  EXPECT_EQ(known_metric("vllm:prompt_tokens_total")->type, "counter");
  EXPECT_EQ(known_metric("vllm:num_requests_waiting_total"), nullptr);
  EXPECT_EQ(known_metric("vllm:time_to_first_token"), nullptr);
  using Names = std::vector<std::string>;
  EXPECT_EQ(nearest_metrics("vllm:time_to_first_token"), Names{"vllm:time_to_first_token_seconds_bucket"});
  EXPECT_EQ(nearest_metrics("vllm:num_request_waiting"), Names{"vllm:num_requests_waiting"});
  EXPECT_EQ(nearest_metrics("vllm:time_to_first_tokens_seconds_sum"), Names{"vllm:time_to_first_token_seconds_sum"});
  EXPECT_EQ(nearest_metrics("vllm:prompt_token_total"), Names{"vllm:prompt_tokens_total"});
  EXPECT_EQ(nearest_metrics("vllm:request_success_totals"), Names{"vllm:request_success_total"});
  EXPECT_GT(nearest_metrics("vllm:num_requests").size(), 1u) << "running or waiting";
  EXPECT_EQ(nearest_metrics("vllm:something_else_altogether"), Names{});
  EXPECT_EQ(removed_metric("vllm_gpu_cache_usage_perc")->instead, "vllm:kv_cache_usage_perc");
  EXPECT_EQ(removed_metric("gpu_cache_usage_perc"), nullptr) << "NIM still has it";
  EXPECT_EQ(gpus_of_instance("g5.12xlarge"), 4);
  EXPECT_EQ(gpus_of_instance("p4d.24xlarge"), 8);
  EXPECT_EQ(gpus_of_instance("g3.16xlarge"), 4);
  EXPECT_EQ(gpus_of_instance("g5g.16xlarge"), 2);
  EXPECT_EQ(gpu_family("m5.large"), nullptr);
}

}  // namespace
}  // namespace capstan::lint::views_test
