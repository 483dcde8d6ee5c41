#pragma once

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::bench {

inline constexpr int kRanks = 2;
inline constexpr std::string_view kModel = "meta-llama/Llama-3.1-8B-Instruct";

inline std::string labels(int rank, const std::string& more) {
  return "{engine=\"" + std::to_string(rank) + "\"," + more + "model_name=\"" + std::string(kModel) + "\"}";
}

inline void head(std::ostream& page, const std::string& name, const char* type) {
  page << "# HELP vllm:" << name << " The engine's " << name << ", as it reports it.\n# TYPE vllm:" << name << ' '
       << type << '\n';
}

inline void plain(std::ostream& page, const std::string& name, const char* type, const char* value) {
  head(page, name, type);
  for (int rank = 0; rank < kRanks; ++rank) page << "vllm:" << name << labels(rank, "") << ' ' << value << '\n';
}

inline void histogram(std::ostream& page, const std::string& name, const std::vector<std::string>& bounds) {
  head(page, name, "histogram");
  for (int rank = 0; rank < kRanks; ++rank) {
    int count = 0;
    for (const std::string& bound : bounds) {
      page << "vllm:" << name << "_bucket" << labels(rank, "le=\"" + bound + "\",") << ' ' << (count += 173) << ".0\n";
    }
    page << "vllm:" << name << "_count" << labels(rank, "") << ' ' << count << ".0\n";
    page << "vllm:" << name << "_sum" << labels(rank, "") << " 1234.5678901234567\n";
  }
}

/// Returns a page like vLLM's, with the same names, labels, buckets and number formats: two ranks, about 73 kB.
inline std::string vllm_page() {
  const std::vector<std::string> ttft = {"0.001", "0.005", "0.01", "0.02",  "0.04",  "0.06",   "0.08", "0.1",
                                         "0.25",  "0.5",   "0.75", "1.0",   "2.5",   "5.0",    "7.5",  "10.0",
                                         "20.0",  "40.0",  "80.0", "160.0", "640.0", "2560.0", "+Inf"};
  const std::vector<std::string> itl = {"0.01", "0.025", "0.05", "0.075", "0.1",  "0.15", "0.2",
                                        "0.3",  "0.4",   "0.5",  "0.75",  "1.0",  "2.5",  "5.0",
                                        "7.5",  "10.0",  "20.0", "40.0",  "80.0", "+Inf"};
  const std::vector<std::string> e2e = {"0.3",   "0.5",   "0.8",   "1.0",    "1.5",    "2.0",  "2.5",  "5.0",
                                        "10.0",  "15.0",  "20.0",  "30.0",   "40.0",   "50.0", "60.0", "120.0",
                                        "240.0", "480.0", "960.0", "1920.0", "7680.0", "+Inf"};
  const std::vector<std::string> tokens = {"1.0",     "2.0",     "5.0",     "10.0",     "20.0",   "50.0",
                                           "100.0",   "200.0",   "500.0",   "1000.0",   "2000.0", "5000.0",
                                           "10000.0", "20000.0", "50000.0", "100000.0", "+Inf"};
  std::ostringstream page;
  page << "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
          "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1.76372931e+09\n";
  for (const char* name : {"num_requests_running", "num_requests_waiting", "engine_sleep_state"}) {
    plain(page, name, "gauge", "12.0");
  }
  plain(page, "kv_cache_usage_perc", "gauge", "0.4271356783919598");
  for (const char* name : {"prompt_tokens_total", "generation_tokens_total", "num_preemptions_total",
                           "prefix_cache_queries_total", "prefix_cache_hits_total", "request_success_total"}) {
    plain(page, name, "counter", "1.23456789e+08");
    plain(page, std::string(name).substr(0, std::string_view(name).size() - 6) + "_created", "gauge",
          "1.7637293154217608e+09");
  }
  histogram(page, "time_to_first_token_seconds", ttft);
  for (const char* name : {"inter_token_latency_seconds", "request_time_per_output_token_seconds"}) {
    histogram(page, name, itl);
  }
  for (const char* name :
       {"e2e_request_latency_seconds", "request_queue_time_seconds", "request_inference_time_seconds",
        "request_prefill_time_seconds", "request_decode_time_seconds"}) {
    histogram(page, name, e2e);
  }
  for (const char* name : {"request_prompt_tokens", "request_generation_tokens", "request_max_num_generation_tokens",
                           "request_params_max_tokens", "iteration_tokens_total"}) {
    histogram(page, name, tokens);
  }
  return page.str();
}

}  // namespace capstan::bench
