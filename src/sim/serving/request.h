#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::sim {

inline constexpr std::int32_t kPrefixGroupTokens = 512;  ///< tokens under one prefix hash, as in the Mooncake trace
inline constexpr std::int32_t kPrefixGroupBlocks = 32;   ///< KV blocks of 16 tokens in a group

/// One request as the simulated engine receives it. Only the engine knows the true output length; no signal carries it.
struct EngineRequest {
  std::uint32_t id = 0;            ///< chosen by the caller; repeated in emissions
  std::int32_t input_tokens = 0;   ///< tokens of the prompt, >= 1
  std::int32_t output_tokens = 0;  ///< tokens of the answer, >= 1
  /// One hash for each whole or started group of 512 prompt tokens. Equal hashes mean equal prefixes up to the end of
  /// the group. The caller owns the hashes and keeps them until the request leaves the replica. May be empty.
  std::span<const std::uint64_t> prefix_hashes{};
  bool kv_present = false;  ///< the prompt's KV and the first token arrived from a prefill replica
};

enum class EngineRole : std::uint8_t {
  both,
  prefill,  ///< a request leaves with its first token, and its KV goes to a decode replica
  decode,   ///< requests usually arrive with their KV; the replica computes the prompt of a request without KV
};

struct ReplicaConfig {
  std::int64_t max_batched_tokens = 8192;  ///< token budget of a step; >= max_seqs
  std::int64_t max_seqs = 256;             ///< sequences running at once; >= 1
  std::int64_t max_waiting = 1024;         ///< queue limit, >= 1; preempted requests return to the queue even beyond it
  std::int64_t kv_blocks = 0;              ///< KV blocks of 16 tokens; >= 1
  bool prefix_cache = true;
  EngineRole role = EngineRole::both;
};

enum class OfferResult : std::uint8_t {
  accepted,
  queue_full,
  draining,  ///< the replica accepts no more requests
  too_long,  ///< the request would not fit into the KV memory even alone
};

/// The answer to an offered request.
struct OfferOutcome {
  OfferResult result = OfferResult::accepted;
  /// With the request's id, identifies the request inside the replica. The slot is reused after the request leaves.
  std::uint32_t slot = 0xffff'ffff;
};

enum class EmissionKind : std::uint8_t {
  first_token,  ///< the request got its first token and has more to come
  finished,     ///< the request left with its last token (which is also its first if output_tokens is 1)
  handed_over,  ///< the request left a prefill replica with its first token; its KV may be sent
  preempted,    ///< the request lost its KV, kept its tokens and waits at the front of the queue
};

struct Emission {
  Instant at;  ///< end of the step that caused it (for preempted, its beginning), rounded up to nanoseconds
  std::uint32_t id = 0;
  std::uint32_t slot = 0;
  EmissionKind kind = EmissionKind::finished;
  std::int32_t cached_tokens = 0;  ///< prompt tokens found in the prefix cache at the first admission
  Duration computed{};             ///< time from the last admission to the first token; 0 without a first token

  friend bool operator==(const Emission&, const Emission&) = default;
};
using Emissions = std::vector<Emission>;

/// A request inside a replica at the time the replica was killed.
struct HeldRequest {
  std::uint32_t id = 0;
  std::int32_t generated_tokens = 0;

  friend bool operator==(const HeldRequest&, const HeldRequest&) = default;
};

/// Output tokens of one engine by their outcome. Prompt tokens are not counted.
struct TokenAccount {
  std::int64_t generated = 0;  ///< tokens that the engine generated
  std::int64_t received = 0;   ///< first tokens that arrived with their KV from a prefill replica
  std::int64_t delivered = 0;  ///< tokens of requests that this replica completed or handed over
  std::int64_t discarded = 0;  ///< tokens of requests whose client cancelled
  std::int64_t cut = 0;        ///< tokens of requests that were cut when the replica was killed
  std::int64_t held = 0;       ///< tokens of requests inside the replica

  bool conserved() const { return generated + received == delivered + discarded + cut + held; }
  TokenAccount& operator+=(const TokenAccount& other) {
    generated += other.generated;
    received += other.received;
    delivered += other.delivered;
    discarded += other.discarded;
    cut += other.cut;
    held += other.held;
    return *this;
  }
};

/// Counters and gauges as an engine exports them. Counters run since the replica started. No field depends on events
/// after the sample.
struct ReplicaSample {
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  std::int64_t kv_blocks = 0;
  std::int64_t kv_blocks_used = 0;       ///< blocks of running requests; cached blocks without a user count as free
  std::int64_t prompt_tokens_total = 0;  ///< tokens of the prompts whose prefill ended, each prompt counted once
  std::int64_t generation_tokens_total = 0;
  std::int64_t preemptions_total = 0;
  std::int64_t prefix_queried_tokens_total = 0;
  std::int64_t prefix_hit_tokens_total = 0;
  std::int64_t steps_total = 0;
  Duration busy_total{};         ///< time inside completed steps
  Duration inter_token_total{};  ///< sum of the step times of the tokens that decode steps generated
  std::int64_t inter_token_count = 0;

  friend bool operator==(const ReplicaSample&, const ReplicaSample&) = default;
};

}  // namespace capstan::sim
