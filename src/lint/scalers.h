#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "lint/set.h"

// What scales something, and by which signals.
namespace capstan::lint {

enum class SignalSource : std::uint8_t { resource, pods, object, external, prometheus, other };

/// One metric of an HPA, trigger of a ScaledObject, or metrics source of a PodAutoscaler.
struct ScalingSignal {
  SignalSource source = SignalSource::other;
  std::string_view type;          ///< of a trigger: prometheus, kafka, cpu, ...; of a metric: Pods, External, ...
  const Value* block = nullptr;   ///< all of it
  const Value* metric = nullptr;  ///< name or query; missing where there is none
  const Value* target = nullptr;  ///< the number that is aimed at; missing where there is none
  bool averaged = false;          ///< divided by the replicas: AverageValue
  bool is_query() const { return source == SignalSource::prometheus; }
};

struct Scaler {
  const Object* object = nullptr;
  std::string_view target_kind;
  const Value* target_name = nullptr;
  const Value* min = nullptr;  ///< as written; missing where it is not
  const Value* max = nullptr;
  const Value* behavior = nullptr;
  std::int64_t least = 1;  ///< with the default of the kind
  bool own = false;        ///< it scales itself: an InferenceService, a NIMService
  std::vector<ScalingSignal> signals;
};

bool is_scaler(std::string_view kind);

/// How an object scales something; none where it is nothing that does.
std::optional<Scaler> scaler_of(const Object& object);

/// Its signals, and the expressions of a PrometheusRule; none where it is neither.
std::vector<ScalingSignal> signals_of(const Object& object);

/// A formula of KEDA's makes one number of all triggers; what they are held against alone counts for nothing.
bool has_formula(const Object& object);

/// What it scales, where that is in the input.
const Object* target_of(const Scaler& scaler, const Set& set);

/// Its target serves on GPUs: the object says so where it is there, else the metrics do.
bool scales_gpu(const Scaler& scaler, const Set& set);

/// Metrics of an inference engine or its gateway, by their names.
bool is_inference_metric(std::string_view text);

}  // namespace capstan::lint
