#include "peers/manifest.h"

#include "manifest/quantity.h"
#include "manifest/scalars.h"

namespace capstan::peers {
namespace {

using manifest::Fields;
using manifest::Node;
using manifest::Verdict;
using namespace std::chrono_literals;
namespace scale = decide::scale;
namespace keda = decide::scale::keda;

constexpr std::int64_t kMostReplicas = 100'000;

/// Keys that say nothing to a simulation are known, whatever they hold.
void pass_over(Fields& fields, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) fields.take(key);
}

std::int64_t milli_of(const Node& node, const std::string& what, Verdict& verdict) {
  const auto milli = node.kind == Node::Kind::scalar ? manifest::read_quantity_milli(node.text) : std::nullopt;
  if (!milli || *milli <= 0) {
    verdict.fail(node.place, what + ": found " + node.words() + ", expected a quantity above 0 such as 4 or 500m");
    return 1;
  }
  return *milli;
}

MetricQuery query_of(const Node& at, const std::string& text, Verdict& verdict) {
  Result<MetricQuery> query = MetricQuery::parse(text, "query");
  if (query) return std::move(*query);
  verdict.fail(at.place, query.error().text() + " in " + text.substr(0, 200));
  return {};
}

/// `seconds` of an HPA: an integer of them.
void read_seconds(Fields& fields, std::string_view key, Duration& out, std::int64_t most) {
  std::int64_t seconds = out / 1s;
  fields.integer(key, seconds, 0, most);
  out = std::chrono::seconds(seconds);
}

void read_rules(const Node& node, const std::string& what, scale::HpaRules& rules, std::int64_t& tolerance,
                Verdict& verdict) {
  Fields fields(node, what, verdict);
  read_seconds(fields, "stabilizationWindowSeconds", rules.stabilization, 3600);
  using Select = scale::HpaRules::Select;
  fields.choice<Select>("selectPolicy", rules.select,
                        {{"Max", Select::max}, {"Min", Select::min}, {"Disabled", Select::disabled}});
  if (const Node* stated = fields.take("tolerance")) tolerance = milli_of(*stated, what + ".tolerance", verdict);
  const auto policies = fields.list("policies");
  if (!policies.empty()) rules.policies.clear();
  for (const Node& item : policies) {
    scale::HpaRatePolicy policy;
    Fields rate(item, what + ".policies", verdict);
    using Kind = scale::HpaRatePolicy::Kind;
    rate.choice<Kind>("type", policy.kind, {{"Pods", Kind::pods}, {"Percent", Kind::percent}});
    rate.integer("value", policy.value, 1, 1'000'000);
    read_seconds(rate, "periodSeconds", policy.period, 1800);
    rate.finish();
    rules.policies.push_back(policy);
  }
  fields.finish();
}

void read_behavior(const Node& node, scale::HpaSettings& settings, Verdict& verdict) {
  settings.behavior.emplace();
  Fields fields(node, "behavior", verdict);
  fields.check("scaleUp", [&](const Node& n, Verdict& v) {
    read_rules(n, "behavior.scaleUp", settings.behavior->up, settings.tolerance_up_per_mille, v);
  });
  fields.check("scaleDown", [&](const Node& n, Verdict& v) {
    read_rules(n, "behavior.scaleDown", settings.behavior->down, settings.tolerance_down_per_mille, v);
  });
  fields.finish();
}

void read_target(const Node& node, const std::string& what, HpaMetric& metric, Verdict& verdict) {
  Fields fields(node, what + ".target", verdict);
  enum class Type : std::uint8_t { value, average_value, utilization } type = Type::average_value;
  fields.choice<Type>(
      "type", type,
      {{"Value", Type::value}, {"AverageValue", Type::average_value}, {"Utilization", Type::utilization}});
  const bool value = type == Type::value;
  if (type == Type::utilization)
    verdict.fail(node.place, what + ".target: Utilization goes with Resource metrics only");
  metric.target = value ? HpaMetric::Target::value : HpaMetric::Target::average_value;
  const Node* stated = fields.need(value ? "value" : "averageValue");
  if (stated != nullptr) metric.target_milli = milli_of(*stated, what + ".target", verdict);
  fields.finish();
}

/// The label matchers of a metric's selector, as PromQL has them.
std::string matchers_of(const Node* selector, Verdict& verdict) {
  std::string out;
  if (selector == nullptr) return out;
  Fields fields(*selector, "selector", verdict);
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

HpaMetric read_metric(const Node& node, Verdict& verdict) {
  HpaMetric metric;
  Fields fields(node, "metrics", verdict);
  using Source = HpaMetric::Source;
  std::string type;
  const Node* stated = fields.need("type");
  fields.text("type", type);
  const bool pods = type == "Pods", object = type == "Object", external = type == "External";
  if (stated != nullptr && !pods && !object && !external) {
    verdict.fail(stated->place, "metrics.type: found " + stated->words() +
                                    ", expected Pods, Object or External: a simulation has no CPU or memory of pods");
    return metric;
  }
  metric.source = pods ? Source::pods : object ? Source::object : Source::external;
  const std::string what = pods ? "pods" : object ? "object" : "external";
  const Node* inside = fields.need(what);
  fields.finish();
  if (inside == nullptr) return metric;
  Fields parts(*inside, what, verdict);
  if (object) pass_over(parts, {"describedObject"});
  std::string matchers;
  const Node* name_at = nullptr;
  if (const Node* identity = parts.need("metric")) {
    Fields named(*identity, what + ".metric", verdict);
    name_at = named.need("name");
    named.text("name", metric.name);
    matchers = matchers_of(named.take("selector"), verdict);
    named.finish();
  }
  if (const Node* target = parts.need("target")) read_target(*target, what, metric, verdict);
  parts.finish();
  if (!verdict.ok()) return metric;
  const std::optional<std::string> series = series_of_metric(metric.name, matchers);
  if (!series) {
    std::string known;
    for (const std::string_view name : exported_metrics()) known += (known.empty() ? "" : ", ") + std::string(name);
    verdict.fail(name_at->place, what + ".metric.name: found \"" + metric.name + "\", expected one of " + known);
    return metric;
  }
  metric.query = query_of(*name_at, pods ? "sum by (pod) (" + *series + ")" : "sum(" + *series + ")", verdict);
  return metric;
}

HpaSpec read_hpa(const Node& node, Verdict& verdict) {
  HpaSpec spec;
  Fields fields(node, "spec", verdict);
  pass_over(fields, {"scaleTargetRef"});
  fields.integer("minReplicas", spec.min_replicas, 0, kMostReplicas);
  if (fields.need("maxReplicas") != nullptr) fields.integer("maxReplicas", spec.max_replicas, 1, kMostReplicas);
  if (const Node* behavior = fields.take("behavior")) read_behavior(*behavior, spec.settings, verdict);
  for (const Node& metric : fields.list("metrics")) spec.metrics.push_back(read_metric(metric, verdict));
  if (spec.metrics.empty()) verdict.fail(node.place, "spec: has no metrics");
  fields.finish();
  return spec;
}

/// Of a trigger everything is a text, as KEDA has it.
void read_number(Fields& fields, std::string_view key, double& out, Verdict& verdict) {
  const Node* node = fields.take(key);
  if (node == nullptr) return;
  const std::optional<double> value = manifest::read_number(node->text);
  if (value)
    out = *value;
  else
    verdict.fail(node->place, "metadata." + std::string(key) + ": found " + node->words() + ", expected a number");
}

HpaMetric read_trigger(const Node& node, Verdict& verdict) {
  HpaMetric metric;
  Fields fields(node, "triggers", verdict);
  const Node* type = fields.need("type");
  if (type != nullptr && type->text != "prometheus") {
    verdict.fail(type->place, "triggers.type: found " + type->words() +
                                  ", expected prometheus: nothing else can be "
                                  "asked in a simulation");
  }
  metric.name = "prometheus";
  fields.text("name", metric.name);
  pass_over(fields, {"useCachedMetrics", "authenticationRef"});
  using Target = HpaMetric::Target;
  fields.choice<Target>("metricType", metric.target,
                        {{"AverageValue", Target::average_value}, {"Value", Target::value}});
  const Node* metadata = fields.need("metadata");
  fields.finish();
  if (metadata == nullptr || !verdict.ok()) return metric;
  Fields parts(*metadata, "metadata", verdict);
  pass_over(parts, {"serverAddress", "queryParameters", "namespace", "customHeaders", "unsafeSsl", "timeout",
                    "authModes", "metricName"});
  double threshold = 0;
  const Node* threshold_at = parts.need("threshold");
  read_number(parts, "threshold", threshold, verdict);
  if (threshold_at != nullptr && verdict.ok() && !(threshold > 0)) {
    verdict.fail(threshold_at->place, "metadata.threshold: found " + threshold_at->words() + ", expected more than 0");
  }
  metric.target_milli = std::max<std::int64_t>(1, keda::quantity_milli(threshold));
  read_number(parts, "activationThreshold", metric.activation_threshold, verdict);
  if (const Node* ignore = parts.take("ignoreNullValues")) metric.ignore_null_values = ignore->text != "false";
  if (const Node* query = parts.need("query")) metric.query = query_of(*query, query->text, verdict);
  parts.finish();
  return metric;
}

keda::Fallback read_fallback(const Node& node, Verdict& verdict) {
  keda::Fallback fallback;
  Fields fields(node, "fallback", verdict);
  fields.integer("failureThreshold", fallback.failure_threshold, 0, 1'000'000);
  fields.integer("replicas", fallback.replicas, 0, kMostReplicas);
  using Behavior = keda::Fallback::Behavior;
  fields.choice<Behavior>("behavior", fallback.behavior,
                          {{"static", Behavior::fixed},
                           {"currentReplicas", Behavior::current_replicas},
                           {"currentReplicasIfHigher", Behavior::current_replicas_if_higher},
                           {"currentReplicasIfLower", Behavior::current_replicas_if_lower}});
  fields.finish();
  return fallback;
}

void read_advanced(const Node& node, HpaSpec& spec, Verdict& verdict) {
  Fields fields(node, "advanced", verdict);
  pass_over(fields, {"restoreToOriginalReplicaCount"});
  fields.check("horizontalPodAutoscalerConfig", [&](const Node& config, Verdict& v) {
    Fields parts(config, "horizontalPodAutoscalerConfig", v);
    pass_over(parts, {"name"});
    if (const Node* behavior = parts.take("behavior")) read_behavior(*behavior, spec.settings, v);
    parts.finish();
  });
  fields.check("scalingModifiers", [&](const Node& modifiers, Verdict& v) {
    if (!modifiers.entries.empty()) v.fail(modifiers.place, "scalingModifiers: are not simulated");
  });
  fields.finish();
}

HpaSpec read_scaled_object(const Node& node, Verdict& verdict) {
  HpaSpec spec;
  spec.keda.emplace();
  Fields fields(node, "spec", verdict);
  pass_over(fields, {"scaleTargetRef"});
  spec.min_replicas = 0;
  spec.max_replicas = 100;
  read_seconds(fields, "pollingInterval", spec.polling_interval, 86'400);
  read_seconds(fields, "cooldownPeriod", spec.keda->cooldown, 86'400);
  read_seconds(fields, "initialCooldownPeriod", spec.keda->initial_cooldown, 86'400);
  if (fields.take("idleReplicaCount") != nullptr) {
    fields.integer("idleReplicaCount", spec.keda->idle_replicas.emplace(0), 0, kMostReplicas);
  }
  fields.integer("minReplicaCount", spec.min_replicas, 0, kMostReplicas);
  fields.integer("maxReplicaCount", spec.max_replicas, 1, kMostReplicas);
  spec.keda->min_replicas = spec.min_replicas;
  if (const Node* fallback = fields.take("fallback")) spec.keda->fallback = read_fallback(*fallback, verdict);
  if (const Node* advanced = fields.take("advanced")) read_advanced(*advanced, spec, verdict);
  for (const Node& trigger : fields.list("triggers")) spec.metrics.push_back(read_trigger(trigger, verdict));
  if (spec.metrics.empty()) verdict.fail(node.place, "spec: has no triggers");
  fields.finish();
  return spec;
}

}  // namespace

HpaSpec read_manifest(const Node& root, const std::string& file, Verdict& verdict) {
  Fields fields(root, file, verdict);
  std::string api, kind;
  const Node* api_at = fields.need("apiVersion");
  const Node* kind_at = fields.need("kind");
  fields.text("apiVersion", api);
  fields.text("kind", kind);
  pass_over(fields, {"metadata", "status"});
  const Node* spec = fields.need("spec");
  fields.finish();
  if (!verdict.ok()) return {};
  const bool hpa = kind == "HorizontalPodAutoscaler", scaled = kind == "ScaledObject";
  if (!hpa && !scaled) {
    verdict.fail(kind_at->place,
                 "kind: found " + kind_at->words() + ", expected HorizontalPodAutoscaler or ScaledObject");
  } else if (api != (hpa ? "autoscaling/v2" : "keda.sh/v1alpha1")) {
    verdict.fail(api_at->place, "apiVersion: found " + api_at->words() + ", expected " +
                                    (hpa ? "autoscaling/v2" : "keda.sh/v1alpha1"));
  }
  if (!verdict.ok()) return {};
  HpaSpec read = hpa ? read_hpa(*spec, verdict) : read_scaled_object(*spec, verdict);
  if (verdict.ok() && read.min_replicas > read.max_replicas) {
    verdict.fail(spec->place, "spec: the minimum of replicas is above the maximum");
  }
  return read;
}

}  // namespace capstan::peers
