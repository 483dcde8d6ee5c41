#pragma once

#include <cstdint>
#include <span>

#include "base/hash.h"
#include "base/time.h"

namespace capstan::workload {

/// Tokens per block of `Request::prefix_hashes` (Mooncake's block size).
inline constexpr std::int32_t kPrefixBlockTokens = 512;

/// One request as a client sends it. The output length is not known in advance; the simulated engine and router must
/// not use it before the request ends.
struct Request {
  Instant arrival;                 ///< time since the start of the workload; the first row of a trace arrives at 0
  std::int32_t input_tokens = 0;   ///< tokens of the prompt, 1..kMaxTokens
  std::int32_t output_tokens = 0;  ///< tokens of the answer, 1..kMaxTokens
  std::uint32_t client = 0;        ///< number of the client (or of its session) that sent the request; 0: not known

  /// Hashes of the prompt in blocks of 512 tokens. Two requests whose first n hashes are equal share that prefix. The
  /// last block may be partial. There are at most as many hashes as the prompt has blocks; none if its content is not
  /// known.
  /// Read the hashes through `block`, which gives each superposed copy of a trace its own hashes. The source owns the
  /// memory.
  std::span<const std::uint64_t> prefix_hashes = {};
  std::uint64_t prefix_salt = 0;  ///< 0 for the original; each superposed copy has its own salt

  std::uint64_t block(std::size_t i) const {
    return prefix_salt == 0 ? prefix_hashes[i] : mix64(prefix_hashes[i] ^ prefix_salt);
  }
};

/// Longest time from the first to the last request of a load, and upper limit of every time in its settings: a leap
/// year. It limits what a run of hostile input can cost.
inline constexpr Duration kLongest = std::chrono::hours(366 * 24);

/// Upper limit of the length of a prompt or an answer. Real lengths are below it, and sums of lengths stay far from
/// overflow.
inline constexpr std::int32_t kMaxTokens = 1 << 24;

}  // namespace capstan::workload
