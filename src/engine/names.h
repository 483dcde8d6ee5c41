#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/table.h"

namespace capstan::engine {

// These functions translate the names of clusters and model hubs into names of the engine table. A name with an unknown
// part has no translation, because the part may mean another speed. Examples are a PCIe card of the same chip, and a
// quantization that the table does not have.

/// Returns the table's key for a GPU product: "h100_sxm" for "NVIDIA-H100-80GB-HBM3", "nvidia-h100-80gb", "H100" or
/// "h100_sxm".
std::optional<std::string> gpu_of_product(const EngineTable& table, std::string_view product);

struct ServedModel {
  std::string model;         ///< name of the model in the table
  std::string weight_dtype;  ///< weight type of the name; "bfloat16" if the name has none
};
/// Returns the table's model and weight type for a served model: Llama-3.3-70B in bfloat16 for
/// "meta-llama/Llama-3.3-70B-Instruct", in fp8 for "RedHatAI/Llama-3.3-70B-Instruct-FP8".
std::optional<ServedModel> model_of_name(const EngineTable& table, std::string_view served);

}  // namespace capstan::engine
