#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "conformance/peers.h"
#include "peers/formula/keda.h"
#include "peers/formula/keda_formula.h"

namespace capstan::conformance {
namespace {

using namespace peers;

ReplicaCount any_replicas(const CaseInput& given) { return given.integer(-kMaxReplicas, kMaxReplicas); }
std::optional<ReplicaCount> replicas_or_null(const CaseInput& given) {
  return given ? std::optional(any_replicas(given)) : std::nullopt;
}

std::optional<keda::Fallback> fallback_of(const CaseInput& given) {
  using Behavior = keda::Fallback::Behavior;
  if (!given) return std::nullopt;
  keda::Fallback fallback{
      given["failure_threshold"].integer(-kMaxReplicas, kMaxReplicas), any_replicas(given["replicas"]), {}};
  if (const CaseInput behavior = given.find("behavior")) {
    fallback.behavior = behavior.one_of<Behavior>({{"", Behavior::unset},
                                                   {"static", Behavior::fixed},
                                                   {"currentReplicas", Behavior::current_replicas},
                                                   {"currentReplicasIfHigher", Behavior::current_replicas_if_higher},
                                                   {"currentReplicasIfLower", Behavior::current_replicas_if_lower}});
  }
  return fallback;
}

std::int64_t failures_of(const CaseInput& given) { return given.integer(0, kMaxReplicas); }
bool failing(const CaseInput& given) {
  return given.one_of<bool>({{"Happy", false}, {"Failing", true}, {"Pending", false}});
}

Value fallback(const CaseInput& given) {
  const std::optional<keda::Fallback> settings = fallback_of(given["fallback"]);
  std::optional<keda::Health> health;
  if (const CaseInput failures = given["failures_before"]) {
    health = keda::Health{failures_of(failures), given["status_before"] && failing(given["status_before"])};
  }
  const CaseInput ready = given.find("ready_replicas");
  const bool by_value =
      given.find("metric_type") && given["metric_type"].one_of<bool>({{"AverageValue", false}, {"Value", true}});
  const std::optional<ReplicaCount> current = replicas_or_null(given["current_replicas"]);
  const keda::FallbackResult result = keda::with_fallback(
      settings, health, given["scaler_value"].number_or_null(), given["target"].number(),
      by_value ? keda::MetricType::value : keda::MetricType::average_value, current, ready ? any_replicas(ready) : 0);
  std::vector<keda::Health> all;
  if (health) all.push_back(*health);
  for (const CaseInput& other : given["other_metrics"].list()) {
    all.push_back({failures_of(other["failures"]), failing(other["status"])});
  }
  return object({{"value", result.value ? Value(*result.value) : Value()},
                 {"error", result.value ? Value() : Value(true)},
                 {"failures_after", health ? Value(health->failures) : Value()},
                 {"status_after", health ? Value(health->failing ? "Failing" : "Happy") : Value()},
                 {"fallback_active", keda::is_fallback_active(settings, all)}});
}

Value activation(const CaseInput& given) {
  keda::ScaledObject scaled;
  scaled.min_replicas = any_replicas(given["min_replicas"]);
  scaled.idle_replicas = replicas_or_null(given["idle_replicas"]);
  scaled.cooldown = given["cooldown_s"].seconds();
  scaled.initial_cooldown = given["initial_cooldown_s"].seconds();
  scaled.fallback = fallback_of(given.find("fallback"));
  if (const CaseInput replicas = given.find("fallback_replicas"))
    scaled.fallback = keda::Fallback{0, any_replicas(replicas), {}};
  scaled.paused = given["paused"].boolean();
  scaled.pause_scale_in = given["pause_in"].boolean();
  scaled.pause_scale_out = given["pause_out"].boolean();
  scaled.force_activation = given["force_active"].boolean();
  const keda::Activation result = keda::activate(
      scaled, {given["active"].boolean(), given["error"].boolean()}, any_replicas(given["current_replicas"]),
      given["last_active_age_s"].seconds_or_null(), given["created_age_s"].seconds());
  return object({{"replicas", result.replicas}, {"active_condition", result.active_condition}});
}

Value prometheus_result(const CaseInput& given) {
  std::vector<keda::Series> all;
  const CaseInput series = given["series"];
  for (const CaseInput& item : series ? series.list() : std::vector<CaseInput>()) {
    keda::Series parsed;
    const CaseInput value = item.find("value");
    const std::vector<CaseInput> parts = value ? value.list() : std::vector<CaseInput>();
    parsed.parts = parts.size();
    if (parts.size() >= 2 && parts[1]) parsed.value = parts[1].text();
    all.push_back(parsed);
  }
  const auto value = keda::prometheus_value(all, given["http_ok"].boolean(), given["ignore_null"].boolean());
  // KEDA returns -1 together with an error.
  return value ? object({{"value", *value}}) : object({{"value", -1}, {"error", true}});
}

double any_number(const CaseInput& given) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (given.is_text()) {
    return given.one_of<double>({{"NaN", std::nan("")}, {"+Inf", kInfinity}, {"Inf", kInfinity}, {"-Inf", -kInfinity}});
  }
  return given.number(-1e300, 1e300);
}

Value metric_type(const CaseInput& given) {
  const CaseInput requested = given["requested"];
  if (!requested) return object({{"type", "AverageValue"}});
  const std::string& type = requested.text();
  if (type == "Utilization") return object({{"error", true}});
  return object({{"type", type.empty() ? "AverageValue" : type}});
}

/// Evaluates a formula. If a trigger failed and the formula needs it, the fallback replaces the whole formula.
Value composite(const CaseInput& given) {
  std::map<std::string, std::optional<double>, std::less<>> triggers;
  for (const auto& [name, value] : given["triggers"].members()) triggers[name] = value.number_or_null();
  const auto lookup = [&](std::string_view name) -> std::optional<std::optional<double>> {
    const auto found = triggers.find(name);
    if (found == triggers.end()) return std::nullopt;
    return found->second;
  };
  const Result<keda::Expression> formula =
      keda::parse_expression(given["formula"].text(), [&](std::string_view name) { return triggers.contains(name); });
  if (!formula) return object({{"error", formula.error().text()}});  // the admission webhook rejects it
  const Result<std::optional<double>> result = keda::evaluate_formula(*formula, lookup);
  if (result && *result) return object({{"milli", keda::quantity_milli(**result)}});
  const CaseInput fallback = given.find("fallback_replicas");
  const bool failing = std::ranges::any_of(triggers, [](const auto& trigger) { return !trigger.second; });
  const bool engaged = failing && fallback &&
                       (!given.find("failure_threshold") || !given.find("failures") ||
                        given["failures"].integer() > given["failure_threshold"].integer());
  if (!engaged) return object({{"error", result ? "the formula's result is nil" : result.error().text()}});
  const double fallback_value = given["target"].number() * static_cast<double>(any_replicas(fallback));
  return object({{"milli", keda::quantity_milli(fallback_value)}});
}

Value quantity(const CaseInput& given) {
  return object({{"is_zero", keda::quantity_milli(any_number(given["value"])) == 0}});
}

constexpr Kind kKedaKinds[] = {
    {"fallback", fallback}, {"activation", activation},   {"prometheus_result", prometheus_result},
    {"quantity", quantity}, {"metric_type", metric_type}, {"composite", composite},
};

}  // namespace

std::span<const Kind> keda_kinds() { return kKedaKinds; }

}  // namespace capstan::conformance
