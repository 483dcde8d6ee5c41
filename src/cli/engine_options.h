#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/commands.h"
#include "emulator/load_access.h"
#include "kube/session.h"

namespace CLI {
class App;
}

namespace capstan::cli {

struct EngineServeArguments {
  std::vector<std::string> bind;  ///< addresses and ranges
  std::string bind_file;          ///< list of addresses that may change; "-": standard input; empty: none
  std::string model = "Llama-3.1-8B";
  std::string served_name;  ///< model name in the API; empty: `model`
  std::string gpu = "H100";
  std::int64_t tensor_parallel = 1;
  std::string dtype = "bfloat16";
  std::int64_t max_seqs = 256;
  std::int64_t max_batched_tokens = 8192;
  std::int64_t max_waiting = 1024;
  std::int64_t kv_blocks = 0;  ///< blocks of 16 tokens; 0: as many as fit in the GPU memory
  bool no_prefix_cache = false;
  std::int64_t max_model_tokens = 131'072;
  Duration front_end = std::chrono::milliseconds(15);
  Duration cold_start{};
  Duration loading{};  ///< the last part of the cold start, in which the engine answers 503
  Duration shutdown_timeout{};
  std::string metrics = "vllm";
  std::int64_t stream_interval = 1;
  std::int64_t answer_tokens = 256;
  std::int64_t seed = 1;
  double speed = 1;
};
ExitCode engine_serve(const EngineServeArguments& arguments);

struct EngineLoadArguments {
  std::vector<std::string> endpoints;
  std::string endpoint_file;  ///< list of addresses that may change; "-": standard input; empty: none
  std::string service;        ///< Kubernetes Service whose ready addresses get the load; empty: none
  kube::ClusterArguments cluster;
  std::string trace;
  std::string profile;
  std::string model;
  std::string route = "round_robin";
  std::optional<Duration> duration;
  std::optional<std::int64_t> limit;
  double scale = 1;
  double speed = 1;
  Duration timeout = std::chrono::minutes(10);
  std::int64_t seed = 1;
  emulator::LoadAccessArguments access;
  Output output = Output::text;
};
ExitCode engine_load(const EngineLoadArguments& arguments);

/// Adds `capstan engine serve`.
CLI::App* add_engine_serve(CLI::App& engine, EngineServeArguments& arguments);
/// Adds `capstan engine load`.
CLI::App* add_engine_load(CLI::App& engine, EngineLoadArguments& arguments);

}  // namespace capstan::cli
