#include "peers/manifest.h"

#include <algorithm>
#include <charconv>

#include "manifest/quantity.h"
#include "manifest/scalars.h"

namespace capstan::peers {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;
namespace scale = decide::scale;

/// Accepts keys with any value, because a simulation does not use them.
void accept_unused_keys(Fields& fields, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) fields.take(key);
}

std::int64_t milli_of(const Node& node, const std::string& what, ErrorList& errors) {
  const auto milli = node.kind == Node::Kind::scalar ? manifest::read_quantity_milli(node.text) : std::nullopt;
  if (!milli || *milli <= 0) {
    errors.fail(node.place, what + ": found " + node.words() + ", expected a quantity above 0 such as 4 or 500m");
    return 1;
  }
  return *milli;
}

MetricQuery query_of(const Node& at, const std::string& text, ErrorList& errors) {
  Result<MetricQuery> query = MetricQuery::parse(text, "query");
  if (query) return std::move(*query);
  errors.fail(at.place, query.error().text() + " in " + text.substr(0, 200));
  return {};
}

/// Reads an integer number of seconds.
void read_seconds(Fields& fields, std::string_view key, Duration& out, std::int64_t most) {
  std::int64_t seconds = out / 1s;
  fields.integer(key, seconds, 0, most);
  out = std::chrono::seconds(seconds);
}

void read_rules(const Node& node, const std::string& what, scale::HpaRules& rules, std::int64_t& tolerance,
                ErrorList& errors) {
  Fields fields(node, what, errors);
  read_seconds(fields, "stabilizationWindowSeconds", rules.stabilization, 3600);
  using Select = scale::HpaRules::Select;
  fields.choice<Select>("selectPolicy", rules.select,
                        {{"Max", Select::max}, {"Min", Select::min}, {"Disabled", Select::disabled}});
  if (const Node* stated = fields.take("tolerance")) tolerance = milli_of(*stated, what + ".tolerance", errors);
  const auto policies = fields.non_empty_list("policies");
  if (!policies.empty()) rules.policies.clear();
  for (const Node& item : policies) {
    scale::HpaRatePolicy policy;
    Fields rate(item, what + ".policies", errors);
    using Kind = scale::HpaRatePolicy::Kind;
    rate.choice<Kind>("type", policy.kind, {{"Pods", Kind::pods}, {"Percent", Kind::percent}});
    rate.integer("value", policy.value, 1, 1'000'000);
    read_seconds(rate, "periodSeconds", policy.period, 1800);
    rate.finish();
    rules.policies.push_back(policy);
  }
  fields.finish();
}

void read_behavior(const Node& node, scale::HpaSettings& settings, ErrorList& errors) {
  settings.behavior.emplace();
  Fields fields(node, "behavior", errors);
  fields.check("scaleUp", [&](const Node& n, ErrorList& v) {
    read_rules(n, "behavior.scaleUp", settings.behavior->up, settings.tolerance_up_per_mille, v);
  });
  fields.check("scaleDown", [&](const Node& n, ErrorList& v) {
    read_rules(n, "behavior.scaleDown", settings.behavior->down, settings.tolerance_down_per_mille, v);
  });
  fields.finish();
}

void read_target(const Node& node, const std::string& what, HpaMetric& metric, ErrorList& errors) {
  Fields fields(node, what + ".target", errors);
  using Target = HpaMetric::Target;
  fields.choice<Target>(
      "type", metric.target,
      {{"Value", Target::value}, {"AverageValue", Target::average_value}, {"Utilization", Target::utilization}});
  if (metric.is_resource() ? metric.target == Target::value : metric.target == Target::utilization) {
    errors.fail(node.place, what + ".target: found a wrong type, expected Utilization or AverageValue for a " +
                                "Resource metric, and Value or AverageValue for any other");
  }
  const bool value = metric.target == Target::value;
  if (metric.target == Target::utilization) {
    std::int64_t percent = 100;
    if (fields.take_required("averageUtilization") != nullptr)
      fields.integer("averageUtilization", percent, 1, 100'000);
    metric.target_milli = percent * 1000;
  } else if (const Node* stated = fields.take_required(value ? "value" : "averageValue")) {
    metric.target_milli = milli_of(*stated, what + ".target", errors);
  }
  fields.finish();
}

/// Takes the CPU or memory of a pod from the scenario, because the manifest does not state it.
void take_resources(const Node& at, const PodResources& pod, HpaMetric& metric, ErrorList& errors) {
  const bool cpu = metric.source == HpaMetric::Source::cpu;
  metric.name = cpu ? "cpu" : "memory";
  metric.request_milli = cpu ? pod.cpu_milli : pod.memory_milli;
  metric.used_milli = pod.memory_used_milli.value_or(0);
  if (cpu) metric.query = query_of(at, "sum by (pod) (DCGM_FI_DEV_GPU_UTIL) / 100", errors);
  if (metric.target == HpaMetric::Target::utilization && !metric.request_milli) {
    errors.fail(at.place, metric.name + ": a utilization is a share of the pod's request, expected scale.pod." +
                              metric.name + " in the scenario");
  }
  if (!cpu && !pod.memory_used_milli) {
    errors.fail(at.place, "memory: expected scale.pod.memory_used in the scenario, the memory that an engine uses");
  }
}

/// Reads a Resource or ContainerResource metric. A container of any name counts as the engine's.
void read_resource(const Node& node, const std::string& what, const PodResources& pod, HpaMetric& metric,
                   ErrorList& errors) {
  Fields fields(node, what, errors);
  using Source = HpaMetric::Source;
  metric.source = Source::cpu;
  const Node* name = fields.take_required("name");
  fields.choice<Source>("name", metric.source, {{"cpu", Source::cpu}, {"memory", Source::memory}});
  if (what == "containerResource") fields.take_required("container");
  if (const Node* target = fields.take_required("target")) read_target(*target, what, metric, errors);
  fields.finish();
  if (fields.ok()) take_resources(*name, pod, metric, errors);
}

/// Returns a metric selector's label matchers in PromQL syntax.
std::string matchers_of(const Node* selector, ErrorList& errors) {
  std::string out;
  if (selector == nullptr) return out;
  Fields fields(*selector, "selector", errors);
  if (const Node* labels = fields.take("matchLabels")) {
    for (const Node::Entry& label : labels->entries) {
      out += (out.empty() ? "" : ",") + label.key + "=\"";
      for (const char c : label.value.text) out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
      out += "\"";
    }
  }
  fields.finish();
  return out;
}

/// Reads a Pods, Object or External metric, which must be a series of `exported_metrics`.
void read_series(const Node& node, const std::string& what, HpaMetric& metric, ErrorList& errors) {
  Fields parts(node, what, errors);
  if (what == "object") accept_unused_keys(parts, {"describedObject"});
  std::string matchers;
  const Node* name_at = nullptr;
  if (const Node* identity = parts.take_required("metric")) {
    Fields named(*identity, what + ".metric", errors);
    name_at = named.take_required("name");
    named.text("name", metric.name);
    matchers = matchers_of(named.take("selector"), errors);
    named.finish();
  }
  if (const Node* target = parts.take_required("target")) read_target(*target, what, metric, errors);
  parts.finish();
  if (!parts.ok()) return;
  const std::optional<std::string> series = series_of_metric(metric.name, matchers);
  if (!series) {
    std::string known;
    for (const std::string_view name : exported_metrics()) known += (known.empty() ? "" : ", ") + std::string(name);
    return errors.fail(name_at->place, what + ".metric.name: found \"" + metric.name + "\", expected one of " + known);
  }
  const bool pods = metric.source == HpaMetric::Source::pods;
  metric.query = query_of(*name_at, pods ? "sum by (pod) (" + *series + ")" : "sum(" + *series + ")", errors);
}

HpaMetric read_metric(const Node& node, const PodResources& pod, ErrorList& errors) {
  HpaMetric metric;
  Fields fields(node, "metrics", errors);
  enum class Type : std::uint8_t { resource, container, pods, object, external } type = Type::external;
  fields.take_required("type");
  fields.choice<Type>("type", type,
                      {{"Resource", Type::resource},
                       {"ContainerResource", Type::container},
                       {"Pods", Type::pods},
                       {"Object", Type::object},
                       {"External", Type::external}});
  if (!fields.ok()) return metric;
  constexpr const char* kInside[] = {"resource", "containerResource", "pods", "object", "external"};
  const std::string what = kInside[static_cast<std::size_t>(type)];
  const Node* inside = fields.take_required(what);
  fields.finish();
  if (inside == nullptr) return metric;
  if (type == Type::resource || type == Type::container) {
    read_resource(*inside, what, pod, metric, errors);
    return metric;
  }
  using Source = HpaMetric::Source;
  metric.source = type == Type::pods ? Source::pods : type == Type::object ? Source::object : Source::external;
  read_series(*inside, what, metric, errors);
  return metric;
}

HpaSpec read_hpa(const Node& node, const PodResources& pod, ErrorList& errors) {
  HpaSpec spec;
  Fields fields(node, "spec", errors);
  accept_unused_keys(fields, {"scaleTargetRef"});
  fields.integer("minReplicas", spec.min_replicas, 0, manifest::kMaxReplicas);
  if (fields.take_required("maxReplicas") != nullptr)
    fields.integer("maxReplicas", spec.max_replicas, 1, manifest::kMaxReplicas);
  if (const Node* behavior = fields.take("behavior")) read_behavior(*behavior, spec.settings, errors);
  for (const Node& metric : fields.list("metrics")) spec.metrics.push_back(read_metric(metric, pod, errors));
  if (fields.ok() && spec.metrics.empty()) errors.fail(node.place, "spec: found no metrics, expected at least one");
  fields.finish();
  return spec;
}

/// Reads a number from a trigger's metadata, whose values are strings in KEDA.
void read_number(Fields& fields, std::string_view key, double& out, ErrorList& errors) {
  const Node* node = fields.take(key);
  if (node == nullptr) return;
  const std::optional<double> value = manifest::read_number(node->text);
  if (value)
    out = *value;
  else
    errors.fail(node->place, "metadata." + std::string(key) + ": found " + node->words() + ", expected a number");
}

void read_prometheus(Fields& parts, HpaMetric& metric, ErrorList& errors) {
  accept_unused_keys(parts, {"serverAddress", "queryParameters", "namespace", "customHeaders", "unsafeSsl", "timeout",
                             "authModes", "metricName"});
  double threshold = 0;
  const Node* threshold_at = parts.take_required("threshold");
  read_number(parts, "threshold", threshold, errors);
  if (threshold_at != nullptr && parts.ok() && !(threshold > 0)) {
    errors.fail(threshold_at->place, "metadata.threshold: found " + threshold_at->words() + ", expected more than 0");
  }
  metric.target_milli = std::max<std::int64_t>(1, keda::quantity_milli(threshold));
  read_number(parts, "activationThreshold", metric.activation_threshold, errors);
  if (const Node* ignore = parts.take("ignoreNullValues")) metric.ignore_null_values = ignore->text != "false";
  if (const Node* query = parts.take_required("query")) metric.query = query_of(*query, query->text, errors);
}

void read_schedule(Fields& parts, std::string_view key, Cron& out, ErrorList& errors) {
  const Node* node = parts.take_required(key);
  if (node == nullptr) return;
  Result<Cron> cron = Cron::parse(node->text);
  if (cron)
    out = std::move(*cron);
  else
    errors.fail(node->place, "metadata." + std::string(key) + ": found " + cron.error().message);
}

/// Reads a cron trigger: its metric is the number of replicas and its target is 1.
void read_cron(Fields& parts, HpaMetric& metric, ErrorList& errors) {
  const Node* zone = parts.take_required("timezone");
  constexpr std::string_view kUtc[] = {"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Etc/Universal", "Universal"};
  if (zone != nullptr && std::ranges::find(kUtc, zone->text) == std::end(kUtc)) {
    errors.fail(zone->place,
                "metadata.timezone: found " + zone->words() + ", expected UTC, the only time zone of a simulation");
  }
  read_schedule(parts, "start", metric.cron.start, errors);
  read_schedule(parts, "end", metric.cron.end, errors);
  double replicas = 1;
  parts.take_required("desiredReplicas");
  read_number(parts, "desiredReplicas", replicas, errors);
  metric.cron.replicas =
      static_cast<ReplicaCount>(std::clamp(replicas, 0.0, static_cast<double>(manifest::kMaxReplicas)));
}

/// Reads a utilization in whole percent: KEDA accepts no quantity here.
std::int64_t percent_milli(const Node& node, ErrorList& errors) {
  constexpr std::int64_t kMax = 100'000;
  std::int64_t percent = 0;
  const std::string& text = node.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool is_integer = node.kind == Node::Kind::scalar && error == std::errc{} && end == text.data() + text.size();
  if (!is_integer || percent < 1 || percent > kMax) {
    errors.fail(node.place,
                "metadata.value: found " + node.words() + ", expected a whole number of percent from 1 to 100000");
    return 1000;
  }
  return percent * 1000;
}

/// Reads a cpu or memory trigger, which KEDA passes on to the HPA.
void read_resource_trigger(const Node& at, Fields& parts, const PodResources& pod, HpaMetric& metric,
                           ErrorList& errors) {
  accept_unused_keys(parts, {"containerName", "activationValue"});
  if (metric.target == HpaMetric::Target::value) {
    errors.fail(at.place, "triggers.metricType: expected Utilization or AverageValue for cpu and memory");
  }
  if (const Node* value = parts.take_required("value")) {
    metric.target_milli = metric.target == HpaMetric::Target::utilization ? percent_milli(*value, errors)
                                                                          : milli_of(*value, "metadata.value", errors);
  }
  take_resources(at, pod, metric, errors);
}

HpaMetric read_trigger(const Node& node, const PodResources& pod, ErrorList& errors) {
  HpaMetric metric;
  Fields fields(node, "triggers", errors);
  enum class Type : std::uint8_t { prometheus, cron, cpu, memory } type = Type::prometheus;
  const Node* type_at = fields.take_required("type");
  fields.choice<Type>(
      "type", type,
      {{"prometheus", Type::prometheus}, {"cron", Type::cron}, {"cpu", Type::cpu}, {"memory", Type::memory}});
  if (!fields.ok()) return metric;
  metric.name = type_at->text;
  using Source = HpaMetric::Source;
  if (type == Type::cron) metric.source = Source::cron;
  if (type == Type::cpu || type == Type::memory) metric.source = type == Type::cpu ? Source::cpu : Source::memory;
  if (metric.is_resource()) metric.target = HpaMetric::Target::utilization;
  fields.text("name", metric.name);
  accept_unused_keys(fields, {"useCachedMetrics", "authenticationRef"});
  using Target = HpaMetric::Target;
  fields.choice<Target>(
      "metricType", metric.target,
      {{"AverageValue", Target::average_value}, {"Value", Target::value}, {"Utilization", Target::utilization}});
  const Node* metadata = fields.take_required("metadata");
  fields.finish();
  if (metadata == nullptr) return metric;
  if (!metric.is_resource() && metric.target == Target::utilization) {
    errors.fail(type_at->place, "triggers.metricType: Utilization is for cpu and memory only");
  }
  Fields parts(*metadata, "metadata", errors);
  if (type == Type::prometheus)
    read_prometheus(parts, metric, errors);
  else if (type == Type::cron)
    read_cron(parts, metric, errors);
  else
    read_resource_trigger(*type_at, parts, pod, metric, errors);
  parts.finish();
  return metric;
}

keda::Fallback read_fallback(const Node& node, ErrorList& errors) {
  keda::Fallback fallback;
  Fields fields(node, "fallback", errors);
  fields.integer("failureThreshold", fallback.failure_threshold, 0, 1'000'000);
  fields.integer("replicas", fallback.replicas, 0, manifest::kMaxReplicas);
  using Behavior = keda::Fallback::Behavior;
  fields.choice<Behavior>("behavior", fallback.behavior,
                          {{"static", Behavior::fixed},
                           {"currentReplicas", Behavior::current_replicas},
                           {"currentReplicasIfHigher", Behavior::current_replicas_if_higher},
                           {"currentReplicasIfLower", Behavior::current_replicas_if_lower}});
  fields.finish();
  return fallback;
}

void read_advanced(const Node& node, HpaSpec& spec, ErrorList& errors) {
  Fields fields(node, "advanced", errors);
  accept_unused_keys(fields, {"restoreToOriginalReplicaCount"});
  fields.check("horizontalPodAutoscalerConfig", [&](const Node& config, ErrorList& v) {
    Fields parts(config, "horizontalPodAutoscalerConfig", v);
    accept_unused_keys(parts, {"name"});
    if (const Node* behavior = parts.take("behavior")) read_behavior(*behavior, spec.settings, v);
    parts.finish();
  });
  fields.check("scalingModifiers", [&](const Node& modifiers, ErrorList& v) {
    if (!modifiers.entries.empty())
      v.fail(modifiers.place, "scalingModifiers: found modifiers, which are not simulated, expected none");
  });
  fields.finish();
}

HpaSpec read_scaled_object(const Node& node, const PodResources& pod, ErrorList& errors) {
  HpaSpec spec;
  spec.keda.emplace();
  Fields fields(node, "spec", errors);
  accept_unused_keys(fields, {"scaleTargetRef"});
  spec.min_replicas = 0;
  spec.max_replicas = 100;
  read_seconds(fields, "pollingInterval", spec.polling_interval, 86'400);
  read_seconds(fields, "cooldownPeriod", spec.keda->cooldown, 86'400);
  read_seconds(fields, "initialCooldownPeriod", spec.keda->initial_cooldown, 86'400);
  if (fields.take("idleReplicaCount") != nullptr) {
    fields.integer("idleReplicaCount", spec.keda->idle_replicas.emplace(0), 0, manifest::kMaxReplicas);
  }
  fields.integer("minReplicaCount", spec.min_replicas, 0, manifest::kMaxReplicas);
  fields.integer("maxReplicaCount", spec.max_replicas, 1, manifest::kMaxReplicas);
  spec.keda->min_replicas = spec.min_replicas;
  if (const Node* fallback = fields.take("fallback")) spec.keda->fallback = read_fallback(*fallback, errors);
  if (const Node* advanced = fields.take("advanced")) read_advanced(*advanced, spec, errors);
  for (const Node& trigger : fields.list("triggers")) {
    spec.metrics.push_back(read_trigger(trigger, pod, errors));
    if (fields.ok() && spec.metrics.back().is_resource() && (spec.min_replicas == 0 || spec.keda->idle_replicas)) {
      errors.fail(trigger.place,
                  "triggers: cpu and memory cannot wake a workload from zero, expected a minReplicaCount of at least 1 "
                  "and no idleReplicaCount");
    }
  }
  if (fields.ok() && spec.metrics.empty()) errors.fail(node.place, "spec: found no triggers, expected at least one");
  fields.finish();
  return spec;
}

}  // namespace

const Node* find_autoscaler(std::span<const Node> documents, const std::string& file, ErrorList& errors) {
  if (documents.size() == 1) return &documents.front();
  const Node* found = nullptr;
  for (const Node& document : documents) {
    const Node* kind = document.find("kind");
    if (kind == nullptr || (kind->text != "HorizontalPodAutoscaler" && kind->text != "ScaledObject")) continue;
    if (found != nullptr) {
      errors.fail(document.place, "found a second autoscaler, expected one per file; the first is on line " +
                                      std::to_string(found->place.line));
      return nullptr;
    }
    found = &document;
  }
  if (found != nullptr) return found;
  errors.fail({std::make_shared<const std::string>(file)},
              "found no autoscaler, expected a HorizontalPodAutoscaler or a ScaledObject");
  return nullptr;
}

HpaSpec read_manifest(const Node& root, const std::string& file, const PodResources& pod, ErrorList& errors) {
  Fields fields(root, file, errors);
  std::string api, kind;
  const Node* api_at = fields.take_required("apiVersion");
  const Node* kind_at = fields.take_required("kind");
  fields.text("apiVersion", api);
  fields.text("kind", kind);
  accept_unused_keys(fields, {"metadata", "status"});
  const Node* spec = fields.take_required("spec");
  fields.finish();
  if (api.empty() || kind.empty() || spec == nullptr) return {};
  const bool hpa = kind == "HorizontalPodAutoscaler", scaled = kind == "ScaledObject";
  if (!hpa && !scaled) {
    errors.fail(kind_at->place,
                "kind: found " + kind_at->words() + ", expected HorizontalPodAutoscaler or ScaledObject");
  } else if (api != (hpa ? "autoscaling/v2" : "keda.sh/v1alpha1")) {
    errors.fail(api_at->place,
                "apiVersion: found " + api_at->words() + ", expected " + (hpa ? "autoscaling/v2" : "keda.sh/v1alpha1"));
  }
  if (!fields.ok()) return {};
  HpaSpec read = hpa ? read_hpa(*spec, pod, errors) : read_scaled_object(*spec, pod, errors);
  if (fields.ok() && read.min_replicas > read.max_replicas) {
    errors.fail(spec->place, "spec: the minimum number of replicas is above the maximum");
  }
  return read;
}

}  // namespace capstan::peers
