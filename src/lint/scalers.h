#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "lint/set.h"

// Autoscalers and the signals by which they scale.
namespace capstan::lint {

enum class SignalSource : std::uint8_t { resource, pods, object, external, prometheus, other };

/// One metric of an HPA or of an object that scales itself, one trigger of a ScaledObject, one metrics source of a
/// PodAutoscaler, or one expression of a PrometheusRule.
struct ScalingSignal {
  SignalSource source = SignalSource::other;
  std::string_view type;          ///< type of a trigger (prometheus, kafka, cpu, ...) or of a metric (Pods, External,
                                  ///< ...)
  const Value* block = nullptr;   ///< whole metric or trigger
  const Value* metric = nullptr;  ///< name or query; missing if there is none
  const Value* target = nullptr;  ///< target number; missing if there is none
  bool is_averaged = false;       ///< true if the value is divided by the replicas: AverageValue
  bool is_query() const { return source == SignalSource::prometheus; }
};

struct Scaler {
  const Object* object = nullptr;
  std::string_view target_kind;
  const Value* target_name = nullptr;
  const Value* min = nullptr;  ///< minimum of replicas in the manifest; missing if not stated
  const Value* max = nullptr;
  const Value* behavior = nullptr;
  std::int64_t min_replicas = 1;  ///< minimum of replicas; without one, the default of the kind
  bool scales_itself = false;     ///< true for kinds that scale their own replicas, such as InferenceService
  std::vector<ScalingSignal> signals;
};

bool is_scaler(std::string_view kind);

/// Reads an object as a scaler. Returns none if its kind does not scale.
std::optional<Scaler> scaler_of(const Object& object);

/// Returns the signals of a scaler, or the expressions of a PrometheusRule; none for any other object.
std::vector<ScalingSignal> signals_of(const Object& object);

/// Returns true if the scaler has a KEDA formula. A formula combines all triggers into one number, so the targets of
/// the single triggers have no effect.
bool has_formula(const Object& object);

/// Returns the object that the scaler scales; null if the input lacks it.
const Object* target_of(const Scaler& scaler, const Set& set);

/// Returns true if the target uses GPUs. If the input lacks the target, the metrics decide.
bool scales_gpu(const Scaler& scaler, const Set& set);

/// Returns true if the metrics server measures the resource of a signal. It measures only cpu and memory.
bool is_measured(const ScalingSignal& signal);
/// Returns the resource that a signal of utilization divides by: "cpu" or "memory".
std::string_view requested_resource(const ScalingSignal& signal);
/// Returns the first container of the target whose missing request prevents the HPA from computing the signal, which is
/// a utilization. Returns null if there is none.
const Value* container_without_request(const Scaler& scaler, const ScalingSignal& signal, const Set& set);
/// Returns true if the scaler cannot remove replicas: the API refuses its bounds, or one metric has no value. An HPA
/// scales down only if all metrics have a value.
bool never_scales_down(const Scaler& scaler, const Set& set);

/// Returns true if the target takes its work from a queue: all triggers read a message queue, or the target is in the
/// input and neither a port, a probe, an engine nor a Service shows that it receives requests. No user waits for the
/// start of such a replica.
bool consumes_queue(const Scaler& scaler, const Set& set);

/// Returns true if the text names a metric of an inference engine or of its gateway.
bool is_inference_metric(std::string_view text);

}  // namespace capstan::lint
