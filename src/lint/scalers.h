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

/// One metric of an HPA, one trigger of a ScaledObject, or one metrics source of a PodAutoscaler.
struct ScalingSignal {
  SignalSource source = SignalSource::other;
  std::string_view type;          ///< type of a trigger (prometheus, kafka, cpu, ...) or of a metric (Pods, External,
                                  ///< ...)
  const Value* block = nullptr;   ///< the whole metric or trigger
  const Value* metric = nullptr;  ///< name or query; missing if there is none
  const Value* target = nullptr;  ///< target number; missing if there is none
  bool is_averaged = false;       ///< true if the value is divided by the replicas: AverageValue
  bool is_query() const { return source == SignalSource::prometheus; }
};

struct Scaler {
  const Object* object = nullptr;
  std::string_view target_kind;
  const Value* target_name = nullptr;
  const Value* min = nullptr;  ///< as written; missing if not written
  const Value* max = nullptr;
  const Value* behavior = nullptr;
  std::int64_t min_replicas = 1;  ///< min, or the default of the kind
  bool scales_itself = false;     ///< true for an InferenceService and a NIMService
  std::vector<ScalingSignal> signals;
};

bool is_scaler(std::string_view kind);

/// Returns the scaler that an object is; none if it does not scale anything.
std::optional<Scaler> scaler_of(const Object& object);

/// Returns the signals of a scaler, or the expressions of a PrometheusRule; none for any other object.
std::vector<ScalingSignal> signals_of(const Object& object);

/// Returns true if the scaler has a KEDA formula. The formula makes one number of all triggers, so the targets of the
/// single triggers have no effect.
bool has_formula(const Object& object);

/// Returns the object that it scales, if the input has it.
const Object* target_of(const Scaler& scaler, const Set& set);

/// Returns true if the target serves on GPUs. The target decides if the input has it; otherwise the metrics do.
bool scales_gpu(const Scaler& scaler, const Set& set);

/// Returns true if the text names a metric of an inference engine or of its gateway.
bool is_inference_metric(std::string_view text);

}  // namespace capstan::lint
