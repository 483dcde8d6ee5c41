#pragma once

#include <cstdint>
#include <optional>

#include "lint/pods.h"

// Compares the weights of a model with the memory of the GPUs that hold them.
namespace capstan::lint {

/// The weights of a model, and the memory of the GPUs that its container asks for.
struct MemoryShortage {
  double weights_gb = 0;
  double memory_gb = 0;
};

/// Returns the shortage if the weights of the container's model certainly do not fit into its GPUs. Returns none if the
/// model is a local folder, if a flag keeps weights elsewhere or changes their format, or if the engine may use the
/// GPUs of other pods.
std::optional<MemoryShortage> memory_shortage(const Object& object, const Value& container, std::int64_t gpu_gib);

/// Returns the memory in GiB of the GPU that a pod's node selector chooses; none if it chooses no GPU or an unknown
/// GPU. If products of the same name have different memories, the result is the largest memory.
std::optional<std::int64_t> selected_gpu_gib(const Pod& pod);

}  // namespace capstan::lint
