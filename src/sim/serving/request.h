#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace capstan::sim {

inline constexpr std::int32_t kPrefixGroupTokens = 512;  ///< tokens under one prefix hash, as in the Mooncake trace
inline constexpr std::int32_t kPrefixGroupBlocks = 32;   ///< KV blocks of 16 tokens in a group

/// What the simulated engine is asked to serve. The true output length is the engine's secret: no signal carries it.
struct EngineRequest {
  std::uint32_t id = 0;            ///< the caller's; comes back in emissions
  std::int32_t input_tokens = 0;   ///< >= 1
  std::int32_t output_tokens = 0;  ///< >= 1, the first token included
  /// One hash for each whole or started group of 512 prompt tokens; equal hash means equal prefix up to its end. Owned
  /// by the caller, who keeps it until the request leaves the replica. May be empty.
  std::span<const std::uint64_t> prefix_hashes{};
  bool kv_present = false;  ///< the prompt's KV and the first token arrived from a prefill replica
};

enum class EngineRole : std::uint8_t {
  both,
  prefill,  ///< a request leaves with its first token, its KV handed over
  decode,   ///< requests usually come with their KV; one without is computed here
};

struct ReplicaConfig {
  std::int64_t max_batched_tokens = 8192;  ///< token budget of a step; >= max_seqs
  std::int64_t max_seqs = 256;             ///< sequences running at once; >= 1
  std::int64_t max_waiting = 1024;  ///< >= 1; with that many waiting, more are refused (preempted ones always stay)
  std::int64_t kv_blocks = 0;       ///< KV blocks of 16 tokens; >= 1
  bool prefix_cache = true;
  EngineRole role = EngineRole::both;
};

enum class OfferResult : std::uint8_t {
  accepted,
  queue_full,
  draining,  ///< it accepts nothing more
  too_long,  ///< would not fit the KV memory even alone
};

/// Names a request inside one replica until it leaves. `slot` is used again later; the id tells whose it is.
struct OfferOutcome {
  OfferResult result = OfferResult::accepted;
  std::uint32_t slot = 0xffff'ffff;
};

enum class EmissionKind : std::uint8_t {
  first_token,  ///< of a request that goes on
  finished,     ///< left with its last token (which is also its first if output_tokens is 1)
  handed_over,  ///< left a prefill replica with its first token; its KV may be sent
  preempted,    ///< lost its KV, waits at the front of the queue, keeps its tokens
};

struct Emission {
  Instant at;  ///< end of the step (beginning, for preempted), rounded up to nanoseconds
  std::uint32_t id = 0;
  std::uint32_t slot = 0;
  EmissionKind kind = EmissionKind::finished;
  std::int32_t cached_tokens = 0;  ///< of the prompt, found in the prefix cache when it was first admitted
  Duration computed{};  ///< with a first token: time since its last admission; before that it waited in the queue

  friend bool operator==(const Emission&, const Emission&) = default;
};
using Emissions = std::vector<Emission>;

/// A request that a killed replica held.
struct HeldRequest {
  std::uint32_t id = 0;
  std::int32_t generated_tokens = 0;

  friend bool operator==(const HeldRequest&, const HeldRequest&) = default;
};

/// Where the tokens of an engine's answers are (invariant 8). Prompts do not count.
struct TokenAccount {
  std::int64_t generated = 0;  ///< by the engine
  std::int64_t received = 0;   ///< first tokens that came with their KV from a prefill replica
  std::int64_t delivered = 0;  ///< of requests that left with all that this replica owed them
  std::int64_t discarded = 0;  ///< of requests whose client went away
  std::int64_t cut = 0;        ///< of requests that the end of the replica cut
  std::int64_t held = 0;       ///< of requests that are here

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

/// Counters and gauges as an engine exports them; all since the replica started. Nothing in it knows the future.
struct ReplicaSample {
  std::int64_t waiting = 0;
  std::int64_t running = 0;
  std::int64_t kv_blocks = 0;
  std::int64_t kv_blocks_used = 0;       ///< held by running requests; cached and unreferenced ones are free
  std::int64_t prompt_tokens_total = 0;  ///< of prompts whose prefill ended (recomputed and cached tokens not twice)
  std::int64_t generation_tokens_total = 0;
  std::int64_t preemptions_total = 0;
  std::int64_t prefix_queried_tokens_total = 0;
  std::int64_t prefix_hit_tokens_total = 0;
  std::int64_t steps_total = 0;
  Duration busy_total{};         ///< time inside completed steps
  Duration inter_token_total{};  ///< sum over generated tokens, first ones not counted, of the step they took
  std::int64_t inter_token_count = 0;

  friend bool operator==(const ReplicaSample&, const ReplicaSample&) = default;
};

}  // namespace capstan::sim
