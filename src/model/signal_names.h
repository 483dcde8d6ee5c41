#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/replica_signals.h"

namespace capstan::model {

// Largest values of signals, far below values whose sums would overflow.
inline constexpr std::int64_t kMaxRequests = 86'400'000'000;
inline constexpr std::int64_t kMaxTokens = 9'000'000'000'000'000;
inline constexpr std::int64_t kMaxSharePpm = 1'000'000;
inline constexpr std::int64_t kMaxSharePercent = 100;
inline constexpr std::int64_t kMaxLatencyUs = std::int64_t{366} * 86'400'000'000;  ///< a leap year, the longest run

/// One signal of a replica: its name in files, its field and its largest value.
struct ReplicaSignal {
  std::string_view name;
  SignalField field;
  std::int64_t most;
};

/// Every signal of a replica. Code that hashes, ages, writes or reads signals loops over this list, so it omits none.
inline constexpr std::array<ReplicaSignal, 11> kReplicaSignals{{
    {"waiting", &ReplicaSignals::waiting, kMaxRequests},
    {"running", &ReplicaSignals::running, kMaxRequests},
    {"kv_usage_ppm", &ReplicaSignals::kv_usage_ppm, kMaxSharePpm},
    {"duty_cycle_percent", &ReplicaSignals::duty_cycle_percent, kMaxSharePercent},
    {"memory_used_percent", &ReplicaSignals::memory_used_percent, kMaxSharePercent},
    {"ttft_p99_us", &ReplicaSignals::ttft_p99_us, kMaxLatencyUs},
    {"ttft_late_ppm", &ReplicaSignals::ttft_late_ppm, kMaxSharePpm},
    {"queue_late_ppm", &ReplicaSignals::queue_late_ppm, kMaxSharePpm},
    {"tpot_late_ppm", &ReplicaSignals::tpot_late_ppm, kMaxSharePpm},
    {"prompt_tokens_total", &ReplicaSignals::prompt_tokens_total, kMaxTokens},
    {"generated_tokens_total", &ReplicaSignals::generated_tokens_total, kMaxTokens},
}};
static_assert(kReplicaSignals.size() * sizeof(Signal) == sizeof(ReplicaSignals), "the list must have every signal");

}  // namespace capstan::model
