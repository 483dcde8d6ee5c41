#include "explain/slow_replica.h"

#include <gtest/gtest.h>

namespace capstan::explain {
namespace {

/// A load with a known bottleneck. The GPU duty cycle is 40 % in each row, so it does not show the bottleneck.
struct Row {
  const char* name;
  ReplicaLoad load;
  SlowPart part;
  const char* text;    ///< part of the explanation
  const char* remedy;  ///< part of the remedy
};

const Row kRows[] = {
    {"TheEngineRunsAsManySequencesAsItMay",
     {.running = 64, .waiting = 12, .kv_usage_ppm = 310'000, .max_sequences = 64},
     SlowPart::batch_limit,
     "64 of 64 sequences run, 12 wait, KV memory is 31 % full",
     "--max-num-seqs"},
    {"TheDefaultLimitOfVllmCounts",
     {.running = 250, .waiting = 3, .kv_usage_ppm = 500'000},
     SlowPart::batch_limit,
     "250 of 256 sequences run (the default limit), 3 wait",
     "--max-num-seqs"},
    {"KvMemoryIsFull",
     {.running = 30, .waiting = 12, .kv_usage_ppm = 970'000, .max_sequences = 256},
     SlowPart::kv_memory,
     "KV memory is 97 % full",
     "--gpu-memory-utilization"},
    {"FullKvMemoryIsTheCauseEvenAtTheBatchLimit",
     {.running = 64, .waiting = 12, .kv_usage_ppm = 970'000, .max_sequences = 64},
     SlowPart::kv_memory,
     "KV memory is 97 % full",
     "add replicas"},
    {"SequencesArePreempted",
     {.running = 30, .waiting = 0, .kv_usage_ppm = 990'000, .preemptions = 4},
     SlowPart::kv_memory,
     "4 preempted",
     "--kv-cache-dtype fp8"},
    {"PromptsUseUpTheTokensOfAStep",
     {.running = 20, .waiting = 12, .kv_usage_ppm = 310'000, .max_sequences = 256},
     SlowPart::step_tokens,
     "20 of 256 sequences run, 12 wait",
     "--max-num-batched-tokens"},
    {"TheGatewayHoldsRequests",
     {.running = 20, .waiting = 0, .kv_usage_ppm = 310'000, .gateway_waiting = 8},
     SlowPart::gateway,
     "the gateway holds 8 requests",
     "concurrency limit of the gateway"},
    {"TheFrontEndUsesItsWholeCpu",
     {.running = 20, .waiting = 0, .kv_usage_ppm = 310'000, .cpu_percent = 99},
     SlowPart::cpu,
     "the front end uses 99 % of 100 % CPU",
     "--api-server-count"},
    {"ClientsWaitLongerThanTheEngineNeeds",
     {.running = 20, .waiting = 0, .kv_usage_ppm = 310'000, .ttft_ms = 3'100, .engine_ttft_ms = 400},
     SlowPart::cpu,
     "clients wait 3.1 s for the first token, the engine needs 400 ms",
     "tokenizer"},
    {"NothingIsAtALimit",
     {.running = 20, .waiting = 0, .kv_usage_ppm = 310'000, .cpu_percent = 150, .cpu_limit_percent = 400},
     SlowPart::none,
     "these signals show nothing slow: no request waits, and no limit is reached",
     "if clients report late answers, compare their time to the first token with the engine's"},
    {"AMissingSignalIsNotZero",
     {.running = 20, .kv_usage_ppm = 310'000},
     SlowPart::unknown,
     "signals are missing: waiting",
     "first find these signals"},
};

TEST(SlowReplica, TheBottleneckIsNamedThoughTheGpuIsNotBusy) {
  for (Row row : kRows) {
    row.load.gpu_percent = 40;
    const SlowDiagnosis diagnosis = diagnose(row.load);
    EXPECT_EQ(name(diagnosis.part), name(row.part)) << row.name << ": " << diagnosis.text;
    EXPECT_TRUE(diagnosis.text.contains(row.text)) << row.name << ": " << diagnosis.text;
    EXPECT_TRUE(diagnosis.remedy.contains(row.remedy)) << row.name << ": " << diagnosis.remedy;
  }
}

TEST(SlowReplica, TheGpuDutyCycleChangesNoDiagnosis) {
  for (Row row : kRows) {
    for (const std::int64_t gpu : {0, 40, 100}) {
      row.load.gpu_percent = gpu;
      EXPECT_EQ(diagnose(row.load).part, row.part) << row.name << " at " << gpu << " %";
    }
  }
}

TEST(SlowReplica, TheTextHasTheMetricAndTheRemedy) {
  ReplicaLoad load{.running = 64, .waiting = 12, .kv_usage_ppm = 310'000, .max_sequences = 64, .gpu_percent = 40};
  EXPECT_EQ(
      text(diagnose(load), load),
      "bottleneck: batch limit: 64 of 64 sequences run, 12 wait, KV memory is 31 % full (GPU duty cycle 40 %, "
      "which shows no spare capacity); raise the limit of sequences (vLLM: --max-num-seqs) while the time between "
      "tokens is inside the SLO, else add replicas (metric: vllm:num_requests_running)");
}

TEST(SlowReplica, AHealthyReplicaIsNotCalledSlow) {
  const ReplicaLoad load{.running = 3, .waiting = 0, .kv_usage_ppm = 50'000};
  EXPECT_EQ(text(diagnose(load), load),
            "bottleneck: none: these signals show nothing slow: no request waits, and no limit is reached; if clients "
            "report late answers, compare their time to the first token with the engine's");
}

}  // namespace
}  // namespace capstan::explain
