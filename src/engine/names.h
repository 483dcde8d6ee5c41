#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/table.h"

namespace capstan::engine {

// What clusters and model hubs call things, as the table has them. A name that is not understood whole is nobody's: a
// PCIe card of the same chip, and a model whose weights were made smaller in a way that the table does not have, run at
// another speed.

/// "h100_sxm" of "NVIDIA-H100-80GB-HBM3", "nvidia-h100-80gb", "H100" or itself.
std::optional<std::string> gpu_of_product(const EngineTable& table, std::string_view product);

struct ServedModel {
  std::string model;         ///< as in the table
  std::string weight_dtype;  ///< what the name says, else "bfloat16"
};
/// Llama-3.3-70B in bfloat16 of "meta-llama/Llama-3.3-70B-Instruct"; in fp8 of "RedHatAI/Llama-3.3-70B-Instruct-FP8".
std::optional<ServedModel> model_of_name(const EngineTable& table, std::string_view served);

}  // namespace capstan::engine
