#include "emulator/exposition.h"

#include <gtest/gtest.h>

namespace capstan::emulator {
namespace {

using namespace std::chrono_literals;

sim::ReplicaSample sample() {
  sim::ReplicaSample sample;
  sample.waiting = 2;
  sample.running = 3;
  sample.kv_blocks = 200;
  sample.kv_blocks_used = 50;
  sample.prompt_tokens_total = 1000;
  sample.generation_tokens_total = 70;
  sample.preemptions_total = 1;
  sample.prefix_queried_tokens_total = 800;
  sample.prefix_hit_tokens_total = 512;
  return sample;
}

std::string page(Dialect dialect) {
  RequestMetrics requests(dialect);
  requests.ttft.add(Duration{15ms});
  requests.ttft.add(Duration{20ms});
  requests.ttft.add(Duration{3000s});
  requests.stopped = 4;
  const sim::ReplicaSample engine = sample();
  return exposition({.dialect = dialect,
                     .model_name = "a\"b\\c",
                     .requests = requests,
                     .engine = engine,
                     .started_unix_s = 1'700'000'000});
}

TEST(Exposition, HasTheNamesLabelsAndUnitsOfVllm) {
  const std::string text = page(Dialect::vllm);
  for (const char* line :
       {"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running{engine=\"0\",model_name=\"a\\\"b\\\\c\"} "
        "3.0\n",
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 2.0\n",
        "vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"a\\\"b\\\\c\",reason=\"capacity\"} 2.0\n",
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 0.25\n",
        "# TYPE vllm:prompt_tokens_total counter\nvllm:prompt_tokens_total{engine=\"0\",model_name=\"a\\\"b\\\\c\"} "
        "1000.0\n",
        "vllm:generation_tokens_total{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 70.0\n",
        "vllm:num_preemptions_total{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 1.0\n",
        "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 512.0\n",
        "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\",model_name=\"a\\\"b\\\\c\"} 4.0\n",
        "# TYPE vllm:time_to_first_token_seconds histogram\n"
        "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.001\",model_name=\"a\\\"b\\\\c\"} 0.0\n",
        "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.01\",model_name=\"a\\\"b\\\\c\"} 0.0\n"
        "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.02\",model_name=\"a\\\"b\\\\c\"} 2.0\n",
        "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"2560.0\",model_name=\"a\\\"b\\\\c\"} 2.0\n"
        "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"+Inf\",model_name=\"a\\\"b\\\\c\"} 3.0\n"
        "vllm:time_to_first_token_seconds_count{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 3.0\n"
        "vllm:time_to_first_token_seconds_sum{engine=\"0\",model_name=\"a\\\"b\\\\c\"} 3000.0",
        "vllm:inter_token_latency_seconds_count",
        "vllm:request_time_per_output_token_seconds_count",
        "vllm:e2e_request_latency_seconds_count",
        "vllm:request_queue_time_seconds_count",
        "vllm:request_prefill_time_seconds_count",
        "vllm:request_decode_time_seconds_count",
        "vllm:request_inference_time_seconds_count",
        "vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"1.0\"",
        "vllm:request_generation_tokens_count",
        "vllm:cache_config_info{block_size=\"16\",engine=\"0\",num_gpu_blocks=\"200\"} 1.0\n",
        "process_start_time_seconds 1700000000.0\n"}) {
    EXPECT_NE(text.find(line), text.npos) << line;
  }
  EXPECT_TRUE(text.ends_with('\n'));
}

TEST(Exposition, HasTheNamesOfSglang) {
  const std::string text = page(Dialect::sglang);
  for (const char* line :
       {"sglang:num_running_reqs{engine_type=\"unified\",model_name=\"a\\\"b\\\\c\",pp_rank=\"0\","
        "tp_rank=\"0\"} 3.0\n",
        "sglang:num_queue_reqs{", "sglang:token_usage{", "sglang:num_used_tokens{", "sglang:max_total_num_tokens{",
        "sglang:cache_hit_rate{", "sglang:time_to_first_token_seconds_bucket{engine_type=\"unified\",le=\"0.1\",",
        "sglang:inter_token_latency_seconds_bucket{engine_type=\"unified\",le=\"0.002\",",
        "sglang:e2e_request_latency_seconds_sum{", "sglang:queue_time_seconds_count{"}) {
    EXPECT_NE(text.find(line), text.npos) << line;
  }
  EXPECT_EQ(text.find("vllm"), text.npos);
}

}  // namespace
}  // namespace capstan::emulator
