#pragma once

#include <array>
#include <string_view>

#include "model/gang.h"

namespace capstan::model {

/// One signal of a replica: its name in files, and where it stands.
struct ReplicaSignal {
  std::string_view name;
  SignalField field;
  bool counter = false;  ///< grows since the engine's start
};

/// All of them: whoever hashes, ages, writes or reads signals walks this list, so that none is forgotten.
inline constexpr std::array<ReplicaSignal, 11> kReplicaSignals{{
    {"waiting", &ReplicaSignals::waiting},
    {"running", &ReplicaSignals::running},
    {"kv_usage_ppm", &ReplicaSignals::kv_usage_ppm},
    {"duty_cycle_percent", &ReplicaSignals::duty_cycle_percent},
    {"memory_used_percent", &ReplicaSignals::memory_used_percent},
    {"ttft_p99_us", &ReplicaSignals::ttft_p99_us},
    {"ttft_late_ppm", &ReplicaSignals::ttft_late_ppm},
    {"queue_late_ppm", &ReplicaSignals::queue_late_ppm},
    {"tpot_late_ppm", &ReplicaSignals::tpot_late_ppm},
    {"prompt_tokens_total", &ReplicaSignals::prompt_tokens_total, true},
    {"generated_tokens_total", &ReplicaSignals::generated_tokens_total, true},
}};
static_assert(kReplicaSignals.size() * sizeof(Signal) == sizeof(ReplicaSignals), "a signal that the list leaves out");

}  // namespace capstan::model
