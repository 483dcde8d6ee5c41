#pragma once

#include <cstdint>
#include <span>

#include "base/hash.h"
#include "base/time.h"

namespace capstan::workload {

/// Tokens of one block of `Request::prefix_hashes` (Mooncake's block size).
inline constexpr std::int32_t kPrefixBlockTokens = 512;

/// One request as a client sends it. What the engine and the router may know of it is for them to hide: the output
/// length is the future.
struct Request {
  Instant arrival;                 ///< since the start of the workload; the first row of a trace arrives at 0
  std::int32_t input_tokens = 0;   ///< at least 1, at most kMaxTokens
  std::int32_t output_tokens = 0;  ///< at least 1, at most kMaxTokens
  std::uint32_t client = 0;        ///< who sent it (a client, or a session of one); 0: not known

  /// Content of the prompt in blocks of 512 tokens: two requests whose first n hashes are equal share that prefix. The
  /// last block may be partial; never more blocks than the input has. Empty: not known. Read through `block`, which
  /// also tells the superposed copies of a trace apart. The memory is the source's and lives as long as it does.
  std::span<const std::uint64_t> prefix_hashes = {};
  std::uint64_t prefix_salt = 0;  ///< 0 for the original; each superposed copy has its own

  std::uint64_t block(std::size_t i) const {
    return prefix_salt == 0 ? prefix_hashes[i] : mix64(prefix_hashes[i] ^ prefix_salt);
  }
};

/// The longest load, from its first request to its last, and the longest of any time in its settings: a leap year. It
/// bounds what a run of hostile input can cost.
inline constexpr Duration kLongest = std::chrono::hours(366 * 24);

/// No real prompt or answer is longer; a bound that keeps every sum of lengths far from overflow.
inline constexpr std::int32_t kMaxTokens = 1 << 24;

}  // namespace capstan::workload
