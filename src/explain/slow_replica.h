#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::explain {

/// The part that makes requests slow: a part of the replica, or one in front of it.
enum class SlowPart : std::uint8_t {
  none,         ///< the signals show no bottleneck
  unknown,      ///< the signals that would show it are missing
  gateway,      ///< the gateway holds requests although the engine could take them
  batch_limit,  ///< the engine runs as many sequences as it may (vLLM: --max-num-seqs)
  kv_memory,    ///< the KV cache is full, so no further sequence fits
  step_tokens,  ///< prompts use the whole token budget of a step (vLLM: --max-num-batched-tokens)
  cpu,          ///< the front end (HTTP, tokenizer) takes the time, before the engine sees the request
};
std::string_view name(SlowPart part);

/// Facts about one replica. An empty field was not measured; it does not count as zero.
struct ReplicaLoad {
  std::optional<std::int64_t> running{};          ///< requests in the batch
  std::optional<std::int64_t> waiting{};          ///< requests in the engine's queue
  std::optional<std::int64_t> kv_usage_ppm{};     ///< share of the KV cache in use, millionths
  std::optional<std::int64_t> preemptions{};      ///< requests that lost their KV blocks since the last scrape
  std::optional<std::int64_t> gateway_waiting{};  ///< requests that the gateway holds for this service
  std::optional<std::int64_t> max_sequences{};    ///< limit of the engine; empty: its default, 256 for vLLM
  std::optional<std::int64_t> gpu_percent{};      ///< GPU duty cycle
  std::optional<std::int64_t> cpu_percent{};      ///< CPU use of the engine's front-end process; 100 is one core
  /// CPU that the front-end process may use; 100 is one core. If empty, one core is assumed.
  std::optional<std::int64_t> cpu_limit_percent{};
  std::optional<std::int64_t> ttft_ms{};         ///< time to the first token as the client measures it, p99
  std::optional<std::int64_t> engine_ttft_ms{};  ///< time to the first token as the engine measures it, p99
};

/// The part at fault, with the numbers that show it and a remedy.
struct SlowDiagnosis {
  SlowPart part = SlowPart::unknown;
  std::string text;
  std::string remedy{};
  std::string metric{};  ///< metric that shows the bottleneck (vLLM's name)
};

/// Finds the bottleneck of a slow replica. The GPU duty cycle is never evidence, because it is only the share of time
/// in which some kernel runs. This share is high even for a single request, and low while requests wait for memory or
/// for the CPU.
SlowDiagnosis diagnose(const ReplicaLoad& load);

/// Returns the diagnosis in one line, without an end of line.
std::string text(const SlowDiagnosis& diagnosis, const ReplicaLoad& load);

}  // namespace capstan::explain
