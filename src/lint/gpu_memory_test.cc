#include "lint/gpu_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "lint/testing/cases.h"

namespace capstan::lint::gpu_memory_test {
namespace {

using namespace testing_cases;

/// Returns the severity of the finding about a model on the GPUs that a label selects.
std::string_view shortage(const std::string& model, const std::string& label, const std::string& more = "") {
  return found(server("image: 'vllm/vllm-openai:v0.20.0', args: [--model, " + model + more + "]",
                      "nodeSelector: {" + label + "}, "),
               "model-exceeds-gpu-memory");
}

TEST(GpuMemory, WeightsThatExceedTheSelectedGpuAreReported) {
  const std::string large = "meta-llama/Llama-3.3-70B-Instruct";
  EXPECT_EQ(shortage(large, "cloud.google.com/gke-accelerator: nvidia-l4"), "warning");
  EXPECT_EQ(shortage(large, "cloud.google.com/gke-accelerator: nvidia-h100-80gb"), "warning");
  EXPECT_EQ(shortage(large, "nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB"), "warning");
  EXPECT_EQ(shortage(large, "node.kubernetes.io/instance-type: g5.xlarge"), "warning");
  EXPECT_EQ(shortage(large, "karpenter.k8s.aws/instance-gpu-name: t4"), "warning");
  EXPECT_EQ(shortage("Qwen/Qwen2.5-14B-Instruct", "cloud.google.com/gke-accelerator: nvidia-l4"), "warning");
  EXPECT_EQ(shortage("mistralai/Mixtral-8x7B-Instruct-v0.1", "nvidia.com/gpu.product: NVIDIA-L40S"), "warning");
}

TEST(GpuMemory, NothingIsReportedWithoutProof) {
  const std::string large = "meta-llama/Llama-3.3-70B-Instruct";
  const std::string l4 = "cloud.google.com/gke-accelerator: nvidia-l4";
  EXPECT_EQ(shortage(large, "cloud.google.com/gke-accelerator: nvidia-h200-141gb"), "none")
      << "140 GB fit into 141 GiB";
  EXPECT_EQ(shortage("Qwen/Qwen2.5-7B-Instruct", l4), "none");
  EXPECT_EQ(shortage("meta-llama/Llama-2-13b-chat-hf", l4), "none") << "26 GB are too close to 24 GiB to be sure";
  EXPECT_EQ(shortage("casperhansen/llama-3.3-70b-instruct-awq", "nvidia.com/gpu.product: NVIDIA-L40S"), "none");
  EXPECT_EQ(shortage("openai/gpt-oss-20b", l4), "none");
  EXPECT_EQ(shortage("/models/llama-70b", l4), "none") << "the files may be quantized";
  EXPECT_EQ(shortage(large, l4, ", --cpu-offload-gb, '160'"), "none");
  EXPECT_EQ(shortage(large, l4, ", --quantization, bitsandbytes"), "none");
  EXPECT_EQ(shortage(large, "gpu: large"), "none");
  EXPECT_EQ(shortage(large, "nvidia.com/gpu.product: NVIDIA-L4-SHARED"), "none");
}

}  // namespace
}  // namespace capstan::lint::gpu_memory_test
