#include "engine/names.h"

#include <gtest/gtest.h>

namespace capstan::engine {
namespace {

TEST(Names, TranslatesGpuProductsOfNodes) {
  const struct {
    const char* product;
    const char* key;  ///< expected name in the table; empty: none
  } rows[] = {
      {"h100_sxm", "h100_sxm"},
      {"H100", "h100_sxm"},
      {"NVIDIA-H100-80GB-HBM3", "h100_sxm"},
      {"nvidia-h100-mega-80gb", "h100_sxm"},
      {"NVIDIA-H100-80GB-HBM3-SHARED", "h100_sxm"},
      {"NVIDIA-A100-SXM4-80GB", "a100_sxm"},
      {"NVIDIA-H200", "h200_sxm"},
      {"nvidia-h200-141gb", "h200_sxm"},
      {"NVIDIA-B200", "b200_sxm"},
      {"NVIDIA-L40S", "l40s"},
      // These are other cards with the same chips, and parts of a card.
      {"NVIDIA-H100-PCIe", ""},
      {"NVIDIA-H100-NVL", ""},
      {"NVIDIA-A100-SXM4-40GB", ""},
      {"NVIDIA-A100-PCIE-80GB", ""},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", ""},
      {"NVIDIA-GH200-480GB", ""},
      {"NVIDIA-L40", ""},
      {"Tesla-T4", ""},
      {"nvidia.com/gpu", ""},
      {"", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(gpu_of_product(EngineTable::bundled(), row.product).value_or(""), row.key) << row.product;
  }
}

TEST(Names, TranslatesModelNamesOfHubs) {
  const struct {
    const char* served;
    const char* model;  ///< expected name in the table; empty: none
    const char* dtype = "bfloat16";
  } rows[] = {
      {"Llama-3.1-8B", "Llama-3.1-8B"},
      {"meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"},
      {"meta-llama/Meta-Llama-3.1-8B-Instruct", "Llama-3.1-8B"},
      {"meta-llama/Llama-3.3-70B-Instruct", "Llama-3.3-70B"},
      {"RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic", "Llama-3.3-70B", "fp8"},
      {"Qwen/Qwen3-32B-FP8", "Qwen3-32B", "fp8"},
      {"Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "Mixtral-8x7B"},
      // Not in the table: other weight types, other sizes, other models with the same base, and names that are not the
      // name of a model.
      {"Qwen/Qwen3-32B-AWQ", ""},
      {"hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", ""},
      {"meta-llama/Llama-3.1-70B-Instruct", ""},
      {"meta-llama/Llama-3.1", ""},
      {"deepseek-ai/DeepSeek-R1-Distill-Llama-70B", ""},
      {"Llama-3.1-8B-262k", ""},
      {"chat", ""},
      {"", ""},
  };
  for (const auto& row : rows) {
    const auto found = model_of_name(EngineTable::bundled(), row.served);
    EXPECT_EQ(found ? found->model : "", row.model) << row.served;
    EXPECT_EQ(found ? found->weight_dtype : row.dtype, row.dtype) << row.served;
  }
}

}  // namespace
}  // namespace capstan::engine
