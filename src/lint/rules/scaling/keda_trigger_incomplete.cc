#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/split.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_trigger_incomplete {
namespace {

/// A field that a scaler of KEDA requires in a trigger's metadata, or several fields of which it requires one.
struct Field {
  std::string_view trigger;
  std::string_view names;           ///< alternatives, separated by spaces
  bool is_in_authentication{};      ///< true if a TriggerAuthentication may have it
  bool is_replaced_by_a_formula{};  ///< true if it has no effect together with scalingModifiers
};
constexpr Field kFields[] = {
    {.trigger = "prometheus", .names = "serverAddress", .is_in_authentication = true},
    {.trigger = "prometheus", .names = "query"},
    {.trigger = "prometheus", .names = "threshold", .is_replaced_by_a_formula = true},
    {.trigger = "cron", .names = "timezone"},
    {.trigger = "cron", .names = "start"},
    {.trigger = "cron", .names = "end"},
    {.trigger = "cron", .names = "desiredReplicas"},
    {.trigger = "cpu", .names = "value"},
    {.trigger = "memory", .names = "value"},
    {.trigger = "redis", .names = "listName"},
    {.trigger = "redis", .names = "address addresses host hosts", .is_in_authentication = true},
    {.trigger = "rabbitmq", .names = "queueName"},
    {.trigger = "rabbitmq", .names = "host", .is_in_authentication = true},
    {.trigger = "kafka", .names = "bootstrapServers", .is_in_authentication = true},
    {.trigger = "kafka", .names = "consumerGroup"},
    {.trigger = "aws-sqs-queue", .names = "queueURL"},
    {.trigger = "aws-sqs-queue", .names = "awsRegion", .is_in_authentication = true},
    {.trigger = "postgresql", .names = "query"},
    {.trigger = "postgresql", .names = "targetQueryValue", .is_replaced_by_a_formula = true},
    {.trigger = "postgresql", .names = "connection host", .is_in_authentication = true},
};

/// Returns true if the metadata has one of the names. With the ending FromEnv a field names a variable of the scaled
/// container.
bool has_any(const Value& metadata, std::string_view names) {
  return std::ranges::any_of(split(names, ' '), [&](std::string_view name) {
    return metadata.has(name) || metadata.has(std::string(name) + "FromEnv");
  });
}

/// Returns true if a cpu or memory trigger states nowhere what kind of value it has. keda-metadata-type-removed reports
/// a type in the metadata.
bool lacks_metric_type(const Value& trigger) {
  const Value& metadata = trigger["metadata"];
  return (trigger["type"].is("cpu") || trigger["type"].is("memory")) && !trigger["metricType"] &&
         !metadata.has("type") && !metadata.has("metricType");
}

std::string missing_fields(const Value& trigger, bool has_modifiers) {
  std::string missing = lacks_metric_type(trigger) ? "metricType" : "";
  for (const Field& field : kFields) {
    if (!trigger["type"].is(field.trigger) || has_any(trigger["metadata"], field.names)) continue;
    if (field.is_in_authentication && trigger["authenticationRef"]) continue;
    if (field.is_replaced_by_a_formula && has_modifiers) continue;
    missing += (missing.empty() ? "" : " and ") + std::string(field.names.substr(0, field.names.find(' ')));
  }
  return missing;
}

void check(const Subject& s) {
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const Value& metadata = trigger["metadata"];
    if (metadata && !metadata.is_mapping()) continue;
    const std::string missing = missing_fields(trigger, has_formula(s.object));
    if (missing.empty()) continue;
    s.report(trigger["type"],
             fmt::format("the {} trigger has no {}, so KEDA does not start its scaler", trigger["type"].text, missing))
        .mark_absence();
  }
}

}  // namespace
}  // namespace keda_trigger_incomplete

extern const Rule rule_keda_trigger_incomplete;
const Rule rule_keda_trigger_incomplete = {
    .id = "keda-trigger-incomplete",
    .severity = Severity::error,
    .kinds = "ScaledObject ScaledJob",
    .title = "a trigger lacks a field that its scaler requires",
    .why =
        "KEDA cannot build the scaler, so the object is never ready and the workload is not scaled. A connection may "
        "also come from authenticationRef, and any field from a variable of the container, with the ending FromEnv.",
    .fix = "add the field to the trigger; metricType belongs beside the metadata, all others in it",
    .source = "KEDA, the metadata of each scaler in pkg/scalers",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: redis
      metadata: {address: "redis:6379", listLength: "5"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: redis
      metadata: {address: "redis:6379", listName: jobs, listLength: "5"}
)",
    .check = keda_trigger_incomplete::check,
};

}  // namespace capstan::lint
