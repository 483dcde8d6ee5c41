#include "lint/gpu_memory.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/ascii.h"
#include "lint/container_start.h"
#include "lint/facts.h"

namespace capstan::lint {
namespace {

/// Returns the number of whole GPUs of a container; none if it asks for slices or shares.
std::optional<std::int64_t> gpus_of_container(const Value& container) {
  std::optional<std::int64_t> count;
  for (const GpuResource& resource : gpu_resources(container)) {
    if (!is_whole_gpu(resource.name) || !resource.count()) return std::nullopt;
    count = *resource.count();
  }
  return count;
}

bool may_span_pods(const Object& object, const Value& container, const EngineCommand& engine) {
  const PodMaker maker = pod_maker(object).value_or(PodMaker::grouped);
  const bool is_alone = maker == PodMaker::serving || maker == PodMaker::plain;
  return !is_alone || object.kind == "LeaderWorkerSet" || joins_other_pods(start_of(container)) ||
         engine.flag(
             {"--nnodes", "--dist-init-addr", "--node-rank", "--headless", "--data-parallel-address", "--master-addr"});
}

/// Returns the memory that the name of a GPU states: 80 for "nvidia-h100-80gb". Returns none if it states none.
std::optional<std::int64_t> stated_gib(std::string_view name) {
  const std::size_t end = name.find("gb");
  if (end == name.npos) return std::nullopt;
  const std::size_t begin = name.find_last_not_of("0123456789", end == 0 ? 0 : end - 1) + 1;
  std::int64_t gib = 0;
  const auto [stop, error] = std::from_chars(name.data() + begin, name.data() + end, gib);
  return error == std::errc() && stop == name.data() + end ? std::optional(gib) : std::nullopt;
}

/// Returns the memory of a GPU by a name such as "nvidia-l4", "Tesla-T4" or "NVIDIA-A100-SXM4-80GB".
std::optional<std::int64_t> gib_of_gpu(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  if (const auto gib = stated_gib(lower)) return gib;
  std::string_view name = lower;
  for (const std::string_view brand : {"nvidia-", "tesla-"}) {
    if (name.starts_with(brand)) name.remove_prefix(brand.size());
  }
  std::optional<std::int64_t> largest;
  for (const GpuFamily& family : gpu_families()) {
    if (family.gpu == name) largest = std::max(largest.value_or(0), family.memory_gib);
  }
  return largest;
}

}  // namespace

std::optional<MemoryShortage> memory_shortage(const Object& object, const Value& container, std::int64_t gpu_gib) {
  constexpr double kMargin = 1.05;  // the size in the name of a model is rounded
  constexpr double kGbPerGib = 1.073741824;
  const auto engine = engine_of(start_of(container));
  if (!engine || may_span_pods(object, container, *engine) || names_local_model(container)) return std::nullopt;
  if (engine->flag({"--cpu-offload-gb", "--load-format", "--quantization", "--quantize", "-q"})) return std::nullopt;
  const std::optional<std::int64_t> gpus = gpus_of_container(container);
  const std::optional<double> weights = weights_gb(container);
  if (!gpus || !weights) return std::nullopt;
  const double memory = static_cast<double>(*gpus * gpu_gib) * kGbPerGib;
  if (*weights <= memory * kMargin) return std::nullopt;
  return MemoryShortage{.weights_gb = *weights, .memory_gb = memory};
}

std::optional<std::int64_t> selected_gpu_gib(const Pod& pod) {
  for (const Value& label : (*pod.spec)["nodeSelector"].children()) {
    if (label.key == "node.kubernetes.io/instance-type" || label.key == "karpenter.k8s.aws/instance-family") {
      if (const GpuFamily* family = gpu_family(label.text)) return family->memory_gib;
    }
    if (label.key == "cloud.google.com/gke-accelerator" || label.key == "nvidia.com/gpu.product" ||
        label.key == "karpenter.k8s.aws/instance-gpu-name") {
      if (const auto gib = gib_of_gpu(label.text)) return gib;
    }
  }
  return std::nullopt;
}

}  // namespace capstan::lint
