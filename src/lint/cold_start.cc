#include "lint/cold_start.h"

#include <algorithm>

#include "lint/container_start.h"
#include "lint/contains.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace {

constexpr double kDownloadGbPerS = 1;
constexpr double kReadGbPerS = 2.5;
constexpr double kSlowGbPerS = 0.1;
constexpr std::int64_t kMaxS = 1'000'000;

/// Returns true if the engine streams the weights from a store, or loads no weights. The speed of such a start is
/// unknown.
bool has_unknown_load_speed(const Value& container) {
  const auto engine = engine_of(start_of(container));
  return engine && engine->flag({"--load-format"}) && engine->flag({"--load-format"})->text != "auto" &&
         engine->flag({"--load-format"})->text != "safetensors";
}

/// Returns true if the container certainly downloads its weights: it runs an image that a project publishes without
/// models, names its model as a repository, and has no volume or init container that provides the model.
bool downloads_weights(const Object& object, const Pod& pod, const Value& container) {
  const std::string_view image = container["image"].text;
  const bool is_published = contains(image, "vllm/vllm-openai") || contains(image, "lmsysorg/sglang") ||
                            contains(image, "huggingface/text-generation-inference");
  const Containers init = init_containers_of(pod);
  return is_published && !names_local_model(container) && !has_lasting_volume(object, pod) &&
         init.begin() == init.end();
}

std::int64_t delay_s(const Value& container) {
  std::int64_t delay = 0;
  for (const std::string_view probe : {"readinessProbe", "startupProbe"}) {
    delay = std::max(delay, container[probe]["initialDelaySeconds"].integer().value_or(0));
  }
  return std::min(delay, kMaxS);
}

}  // namespace

std::optional<std::int64_t> shortest_start_s(const Object& object, const Pod& pod, const Value& container) {
  if (!runs_language_engine(container)) return std::nullopt;
  const double weights = has_unknown_load_speed(container) ? 0 : weights_gb(container).value_or(0);
  double seconds = weights / kReadGbPerS;
  if (downloads_weights(object, pod, container)) seconds += weights / kDownloadGbPerS;
  return kFastestStartS + std::min(kMaxS, static_cast<std::int64_t>(seconds));
}

std::optional<std::int64_t> longest_start_s(const Value& container) {
  const std::optional<double> weights = weights_gb(container);
  if (!weights) return std::nullopt;
  return kLoadS + std::min(kMaxS, static_cast<std::int64_t>(*weights / kSlowGbPerS));
}

std::optional<std::int64_t> shortest_start_s(const Scaler& scaler, const Set& set) {
  const Object* target = target_of(scaler, set);
  if (target == nullptr) {
    const bool names_engine = std::ranges::any_of(
        scaler.signals, [](const ScalingSignal& signal) { return is_inference_metric(signal.metric->text); });
    return names_engine ? std::optional(kFastestStartS) : std::nullopt;
  }
  std::optional<std::int64_t> slowest;
  for (const auto& [pod, container] : gpu_pods_of(*target)) {
    const std::optional<std::int64_t> start = shortest_start_s(*target, pod, container);
    const std::int64_t seconds = std::max(start.value_or(0), delay_s(container));
    if (seconds > 0) slowest = std::max(slowest.value_or(0), seconds);
  }
  return slowest;
}

}  // namespace capstan::lint
