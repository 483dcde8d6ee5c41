#include "lint/scalers.h"

#include <algorithm>
#include <utility>

#include "lint/pods.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace {

ScalingSignal metric_signal(const Value& metric) {
  ScalingSignal signal{.source = SignalSource::other,
                       .type = metric["type"].text,
                       .block = &metric,
                       .metric = &Value::missing(),
                       .target = &Value::missing(),
                       .is_averaged = false};
  struct Row {
    std::string_view type, key, name;
    SignalSource source;
  };
  constexpr Row kRows[] = {{"Resource", "resource", "name", SignalSource::resource},
                           {"ContainerResource", "containerResource", "name", SignalSource::resource},
                           {"Pods", "pods", "metric.name", SignalSource::pods},
                           {"Object", "object", "metric.name", SignalSource::object},
                           {"External", "external", "metric.name", SignalSource::external}};
  for (const Row& row : kRows) {
    const Value& inner = metric[row.key];
    if (!inner || (signal.type != row.type && !signal.type.empty())) continue;
    signal.source = row.source;
    signal.metric = &at(inner, row.name);
    if (!*signal.metric) signal.metric = &inner["metricName"];  // the field of v2beta1
    const Value& target = inner["target"];
    signal.is_averaged = target["averageValue"] || inner["targetAverageValue"] || target["type"].is("AverageValue");
    for (const std::string_view key : {"averageValue", "value", "averageUtilization"}) {
      if (target[key]) signal.target = &target[key];
    }
  }
  return signal;
}

ScalingSignal trigger_signal(const Value& trigger) {
  const Value& metadata = trigger["metadata"];
  ScalingSignal signal{.source = SignalSource::other,
                       .type = trigger["type"].text,
                       .block = &trigger,
                       .metric = &Value::missing(),
                       .target = &Value::missing(),
                       .is_averaged = false};
  const Value& metric_type = trigger["metricType"];
  signal.is_averaged = !metric_type || metric_type.is("AverageValue");
  if (signal.type == "prometheus") {
    signal.source = SignalSource::prometheus;
    signal.metric = &metadata["query"];
    signal.target = &metadata["threshold"];
  } else if (signal.type == "cpu" || signal.type == "memory") {
    signal.source = SignalSource::resource;
    signal.metric = &trigger["type"];
    signal.target = &metadata["value"];
  }
  return signal;
}

void read_hpa(const Object& object, Scaler& scaler) {
  const Value& spec = object["spec"];
  scaler.min = &spec["minReplicas"];
  scaler.max = &spec["maxReplicas"];
  scaler.behavior = &spec["behavior"];
  for (const Value& metric : spec["metrics"].children()) scaler.signals.push_back(metric_signal(metric));
  if (const Value& cpu = spec["targetCPUUtilizationPercentage"]) {
    scaler.signals.push_back({SignalSource::resource, "Resource", &cpu, &cpu, &cpu, false});
  }
}

void read_scaled_object(const Object& object, Scaler& scaler) {
  const Value& spec = object["spec"];
  scaler.min = &spec["minReplicaCount"];
  scaler.max = &spec["maxReplicaCount"];
  scaler.behavior = &at(spec, "advanced.horizontalPodAutoscalerConfig.behavior");
  scaler.min_replicas = 0;
  for (const Value& trigger : spec["triggers"].children()) scaler.signals.push_back(trigger_signal(trigger));
}

void read_pod_autoscaler(const Object& object, Scaler& scaler) {
  const Value& spec = object["spec"];
  scaler.min = &spec["minReplicas"];
  scaler.max = &spec["maxReplicas"];
  scaler.behavior = &Value::missing();
  for (const Value& source : spec["metricsSources"].children()) {
    scaler.signals.push_back({SignalSource::pods, source["metricSourceType"].text, &source, &source["targetMetric"],
                              &source["targetValue"], true});
  }
}

/// Returns the expressions that a PrometheusRule records and alerts on.
std::vector<ScalingSignal> expressions_of(const Object& object) {
  std::vector<ScalingSignal> out;
  for (const Value& group : at(object, "spec.groups").children()) {
    for (const Value& rule : group["rules"].children()) {
      if (!rule["expr"].is_scalar()) continue;
      out.push_back({SignalSource::prometheus, "prometheus", &rule, &rule["expr"], &Value::missing(), false});
    }
  }
  return out;
}

/// Returns the signal of a KServe metric, which is a Prometheus query or a metric as in an HPA.
ScalingSignal kserve_signal(const Value& metric) {
  ScalingSignal signal = metric_signal(metric);
  const Value& query = at(metric, "external.metric.query");
  if (query && at(metric, "external.metric.backend").is("prometheus")) {
    signal.source = SignalSource::prometheus;
    signal.metric = &query;
  }
  return signal;
}

/// Reads an object that scales its own replicas.
void read_self_scaler(const Object& object, Scaler& scaler) {
  scaler.scales_itself = true;
  scaler.behavior = &Value::missing();
  const Value* bounds = &object["spec"];
  if (object.kind == "InferenceService") {
    bounds = &at(object, "spec.predictor");
    for (const Value& metric : at(*bounds, "autoScaling.metrics").children()) {
      scaler.signals.push_back(kserve_signal(metric));
    }
  } else if (object.kind == "LLMInferenceService") {
    bounds = &at(object, "spec.scaling");
  } else if (object.kind == "NIMService") {
    bounds = &at(object, "spec.scale.hpa");
    scaler.behavior = &(*bounds)["behavior"];
    for (const Value& metric : (*bounds)["metrics"].children()) scaler.signals.push_back(metric_signal(metric));
  }
  scaler.min = &(*bounds)["minReplicas"];
  scaler.max = &(*bounds)["maxReplicas"];
  if (scaler.max->is("0")) scaler.max = &Value::missing();  // 0 means no bound
}

bool scales_itself(std::string_view kind) {
  return kind == "InferenceService" || kind == "LLMInferenceService" || kind == "NIMService" || kind == "Model";
}

/// Returns true if an object that scales itself runs on GPUs.
bool runs_on_gpus(const Object& object) {
  const Value& spec = object["spec"];
  if (object.kind == "Model") return spec["resourceProfile"].text.find("gpu") != std::string_view::npos;
  for (const Value* resources : {&spec["resources"], &at(spec, "predictor.model.resources")}) {
    for (const Value& limit : (*resources)["limits"].children()) {
      if (is_gpu_resource(limit.key) && !limit.is("0")) return true;
    }
  }
  return wants_gpu(object);
}

}  // namespace

bool is_scaler(std::string_view kind) {
  return kind == "HorizontalPodAutoscaler" || kind == "ScaledObject" || kind == "PodAutoscaler" || scales_itself(kind);
}

std::optional<Scaler> scaler_of(const Object& object) {
  Scaler scaler;
  scaler.object = &object;
  const Value& target = at(object, "spec.scaleTargetRef");
  scaler.target_kind = target["kind"] ? target["kind"].text : std::string_view("Deployment");
  scaler.target_name = &target["name"];
  if (object.kind == "HorizontalPodAutoscaler") {
    read_hpa(object, scaler);
  } else if (object.kind == "ScaledObject") {
    read_scaled_object(object, scaler);
  } else if (object.kind == "PodAutoscaler") {
    read_pod_autoscaler(object, scaler);
  } else if (scales_itself(object.kind)) {
    read_self_scaler(object, scaler);
  } else {
    return std::nullopt;
  }
  // For a value that is filled in later, such as ${MIN}, the minimum counts as 1, not as the kind's default, which may
  // be 0.
  scaler.min_replicas = scaler.min->integer().value_or(*scaler.min ? 1 : scaler.min_replicas);
  return scaler;
}

std::vector<ScalingSignal> signals_of(const Object& object) {
  if (object.kind == "PrometheusRule") return expressions_of(object);
  std::optional<Scaler> scaler = scaler_of(object);
  return scaler ? std::move(scaler->signals) : std::vector<ScalingSignal>();
}

bool has_formula(const Object& object) {
  return static_cast<bool>(at(object, "spec.advanced.scalingModifiers.formula"));
}

namespace {

/// Returns the DisaggregatedSet of the DisaggregatedSetRoleScaler that the scaler targets. A role scaler is named
/// SET-ROLE.
const Object* set_of_role(const Scaler& scaler, const Set& set) {
  for (const Object* object : set.in_folder("DisaggregatedSet", *scaler.object)) {
    for (const Value& role : at(*object, "spec.roles").children()) {
      const std::string name = std::string(object->name) + "-" + std::string(role["name"].text);
      if (may_share_namespace(*object, *scaler.object) && scaler.target_name->is(name)) return object;
    }
  }
  return nullptr;
}

}  // namespace

const Object* target_of(const Scaler& scaler, const Set& set) {
  if (!*scaler.target_name) return nullptr;
  if (scaler.target_kind == "DisaggregatedSetRoleScaler") return set_of_role(scaler, set);
  return set.find(scaler.target_kind, scaler.target_name->text, *scaler.object);
}

bool is_measured(const ScalingSignal& signal) {
  const bool names_resource = signal.metric->key == "name";  // the other forms are for cpu and memory only
  return !names_resource || signal.metric->is("cpu") || signal.metric->is("memory");
}

namespace {

/// Returns true if the target of a signal is relative to the requests of the containers.
bool is_utilization(const ScalingSignal& signal) {
  if (signal.source != SignalSource::resource || !is_measured(signal)) return false;
  const Value& target =
      at(*signal.block, signal.type == "ContainerResource" ? "containerResource.target" : "resource.target");
  if (target) return static_cast<bool>(target["averageUtilization"]);
  if (signal.block->key == "targetCPUUtilizationPercentage") return true;
  // KEDA has `metricType`; older manifests have `metadata.type`.
  const Value& metric_type = (*signal.block)["metricType"];
  return metric_type.is("Utilization") || (!metric_type && at(*signal.block, "metadata.type").is("Utilization"));
}

/// Returns the container that a signal of type ContainerResource measures; empty means all containers.
std::string_view container_of(const ScalingSignal& signal) {
  const Value& name = at(*signal.block, "containerResource.container");
  return name ? name.text : at(*signal.block, "metadata.containerName").text;
}

/// Returns true if the container has a request. Kubernetes copies a limit without a request to the request.
bool has_request(const Value& container, std::string_view resource) {
  const Value& resources = container["resources"];
  if (resources.is_scalar()) return true;  // a template variable
  return resources["requests"][resource] || resources["limits"][resource];
}

/// Returns the first container of a workload that has no request for the resource of the signal; null if there is none.
const Value* find_without_request(const Object& target, const ScalingSignal& signal) {
  for (const Pod& pod : pods_of(target)) {
    if ((*pod.spec)["resources"]) continue;  // the pod has resources of its own
    for (const Value* container : containers_of(pod)) {
      const std::string_view container_name = container_of(signal);
      if (!container_name.empty() && !(*container)["name"].is(container_name)) continue;
      if ((*container)["name"] && !has_request(*container, requested_resource(signal))) return container;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view requested_resource(const ScalingSignal& signal) {
  return signal.metric->text == "memory" ? "memory" : "cpu";
}

const Value* container_without_request(const Scaler& scaler, const ScalingSignal& signal, const Set& set) {
  const Object* target = scaler.scales_itself || !is_utilization(signal) ? nullptr : target_of(scaler, set);
  if (target == nullptr || is_operated(*target) || is_partial(*target)) return nullptr;
  if (!set.in_folder("LimitRange", *scaler.object).empty()) return nullptr;  // it may set default requests
  return find_without_request(*target, signal);
}

bool never_scales_down(const Scaler& scaler, const Set& set) {
  const std::optional<std::int64_t> max = scaler.max->integer();
  if (max && *max < scaler.min_replicas) return true;
  return std::ranges::any_of(scaler.signals, [&](const ScalingSignal& signal) {
    return container_without_request(scaler, signal, set) != nullptr;
  });
}

bool is_inference_metric(std::string_view text) {
  // The list omits "inference_request_…", because model servers on CPUs expose it too.
  constexpr std::string_view kWords[] = {"vllm",
                                         "sglang",
                                         "trtllm",
                                         "llamacpp",
                                         "trt_llm",
                                         "tgi_",
                                         "nv_inference",
                                         "nv_trt",
                                         "inference_pool",
                                         "llm_d_",
                                         "dynamo_",
                                         "num_requests",
                                         "kv_cache",
                                         "ttft",
                                         "inter_token",
                                         "wva_",
                                         "inference_model",
                                         "time_to_first_token",
                                         "inference_requests"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool consumes_queue(const Scaler& scaler, const Set& set) {
  constexpr std::string_view kQueues[] = {
      "aws-sqs-queue",      "rabbitmq",         "kafka",       "apache-kafka", "redis",          "redis-streams",
      "gcp-pubsub",         "azure-servicebus", "azure-queue", "activemq",     "nats-jetstream", "pulsar",
      "aws-kinesis-stream", "azure-eventhub",   "postgresql",  "mysql"};
  const auto reads_queue = [&](const ScalingSignal& signal) {
    return std::ranges::find(kQueues, signal.type) != std::end(kQueues);
  };
  if (!scaler.signals.empty() && std::ranges::all_of(scaler.signals, reads_queue)) return true;
  const Object* target = target_of(scaler, set);
  if (target == nullptr || is_operated(*target) || pods_of(*target).size() == 0) return false;
  return std::ranges::none_of(pods_of(*target), [&](const Pod& pod) {
    return std::ranges::any_of(containers_of(pod),
                               [&](const Value* container) { return takes_requests(*target, pod, *container, set); });
  });
}

bool scales_gpu(const Scaler& scaler, const Set& set) {
  if (scaler.scales_itself) return runs_on_gpus(*scaler.object);
  if (const Object* target = target_of(scaler, set)) return wants_gpu(*target);
  return std::ranges::any_of(scaler.signals, [](const ScalingSignal& signal) {
    return is_inference_metric(signal.metric->text) || signal.metric->text.find("DCGM_FI_") != std::string_view::npos;
  });
}

}  // namespace capstan::lint
