#include "manifest/engine_command.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace capstan::manifest::engine_command_test {
namespace {

StepLimits limits(ContainerStart container) {
  const std::optional<EngineCommand> engine = engine_of(container);
  return engine ? step_limits(*engine) : StepLimits{-1, -1};
}

TEST(EngineCommand, ReadsStepLimitsFromTheFlagsOfEveryEngine) {
  using Words = std::vector<std::string_view>;
  struct Row {
    Words command;
    StepLimits limits;
  };
  const Row rows[] = {
      {{"vllm", "serve", "m"}, {}},
      {{"vllm", "serve", "m", "--max-num-seqs", "64", "--max-num-batched-tokens=4096"}, {64, 4096}},
      {{"vllm", "serve", "m", "--max_num_seqs=64", "-dp", "1"}, {64, 0}},
      {{"vllm", "serve", "m", "--max-num-seqs=64", "--data-parallel-size", "4"}, {}},
      {{"python3", "-m", "sglang.launch_server", "--max-running-requests", "48", "--chunked-prefill-size", "512"},
       {48, 0}},
      {{"python3", "-m", "sglang.launch_server", "--max-running-requests", "48", "--dp", "2"}, {48, 0}},
      {{"trtllm-serve", "m", "--max_batch_size", "128", "--max_num_tokens", "8192"}, {128, 8192}},
      {{"text-generation-launcher", "--max-batch-size", "32"}, {32, 0}},
      {{"sh", "-c", "exec vllm serve m \\\n --max-num-seqs 16"}, {16, 0}},
      {{"vllm", "serve", "m", "--max-num-seqs", "$SEQS"}, {}},
      {{"vllm", "serve", "m", "--max-num-seqs", "-3", "--max-num-batched-tokens", "99999999999"}, {}},
      {{"vllm", "serve", "m", "--max-num-seqs"}, {}},
      {{"vllm", "serve", "m", "--max-num-seqs", "64", "--max-num-seqs=32"}, {32, 0}},
      {{"nginx", "--max-num-seqs", "4"}, {-1, -1}},
  };
  for (const Row& row : rows)
    EXPECT_EQ(limits({.command = row.command}), row.limits) << ::testing::PrintToString(row.command);
}

TEST(EngineCommand, ReadsStepLimitsFromTheEnvironment) {
  EXPECT_EQ(limits({.image = "vllm/vllm-openai:v0.11.0",
                    .args = {"--max-num-seqs", "$(SEQS)"},
                    .environment = {{"SEQS", "24"}}}),
            (StepLimits{24, 0}));
  EXPECT_EQ(limits({.image = "vllm/vllm-openai:v0.11.0",
                    .args = {"--max-num-seqs", "$(SEQS)"},
                    .environment = {{"SEQS", std::nullopt}}}),
            StepLimits{});
  EXPECT_EQ(
      limits({.image = "ghcr.io/huggingface/text-generation-inference:3.3", .environment = {{"MAX_BATCH_SIZE", "20"}}}),
      (StepLimits{20, 0}));
}

TEST(EngineCommand, ReadsTheFlagsThatAWorkerOfDynamoPassesOn) {
  const std::optional<EngineCommand> worker = dynamo_worker_of(
      {.command = {"/bin/sh", "-c"}, .args = {"python3 -m dynamo.vllm --model m --tensor-parallel-size 4"}});
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->kind, EngineKind::vllm);
  EXPECT_EQ(wanted_gpus(*worker), 4);
  EXPECT_FALSE(dynamo_worker_of({.command = {"python3", "-m", "dynamo.frontend"}}));
  EXPECT_FALSE(dynamo_worker_of({.command = {"vllm", "serve", "m"}}));
  EXPECT_FALSE(engine_of({.command = {"python3", "-m", "dynamo.vllm", "--model", "m"}}))
      << "its version and probes are Dynamo's";
}

}  // namespace
}  // namespace capstan::manifest::engine_command_test
