#include "operator/snapshot/engine_prior.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

TEST(EnginePrior, NamesItsRowOrTheMissingRow) {
  model::Catalog catalog;
  catalog.gpu_kinds = {"h100_sxm", "NVIDIA-H100-PCIe"};
  const struct {
    const char* model;
    std::uint32_t gpu;
    std::int32_t gpus;
    bool gpu_known;
    const char* reason;
    const char* message;  ///< beginning of the message
  } rows[] = {
      {"Llama-3.3-70B", 0, 4, true, "InEngineTable", "Llama-3.3-70B in bfloat16 on 4 x h100_sxm"},
      {"Llama-3.3-70B", 0, 3, true, "NotInEngineTable",
       "engineProfile: no engine table for Llama-3.3-70B on h100_sxm tp 3 bfloat16, expected on that GPU one of: tp"},
      {"Llama-3.3-70B", 1, 4, true, "NotInEngineTable",
       "engineProfile: no engine table for Llama-3.3-70B on NVIDIA-H100-PCIe tp 4 bfloat16, expected one of the GPUs"},
      {"deepseek-ai/DeepSeek-R1", 0, 8, true, "NotInEngineTable",
       "engineProfile: no engine table for deepseek-ai/DeepSeek-R1 on h100_sxm tp 8 bfloat16, expected one of the "
       "models"},
      {"Llama-3.3-70B", 0, 4, false, "GpuNotKnown", "gpu: the nodes have several kinds"},
  };
  for (const auto& row : rows) {
    model::Workload workload;
    workload.model = row.model;
    workload.gpu = {row.gpu};
    workload.gpus_per_replica = row.gpus;
    const EnginePrior prior = engine_prior(catalog, workload, row.gpu_known);
    EXPECT_EQ(prior.reason, row.reason) << row.model;
    EXPECT_EQ(prior.known, prior.reason == "InEngineTable");
    EXPECT_TRUE(prior.message.starts_with(row.message)) << prior.message;
  }
}

TEST(EnginePrior, StatesTheLimitsOfTheEngine) {
  model::Catalog catalog;
  catalog.gpu_kinds = {"h100_sxm"};
  model::Workload workload;
  workload.model = "Llama-3.3-70B";
  workload.gpu = {0};
  workload.gpus_per_replica = 4;
  workload.step_limits = {64, 4096};
  EXPECT_EQ(engine_prior(catalog, workload, true).message,
            "Llama-3.3-70B in bfloat16 on 4 x h100_sxm, 64 sequences at most, steps of 4096 tokens");
}

}  // namespace
}  // namespace capstan::op
