#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "model/gang.h"
#include "model/node.h"
#include "model/offering.h"
#include "model/service.h"
#include "model/signal.h"
#include "model/topology.h"

// The words of closed sets in a snapshot file, in the order of their enums: the writer looks a word up by value, the
// reader the value by word.
namespace capstan::archive {

template <typename Enum>
inline constexpr auto kWords = nullptr;

template <>
inline constexpr std::array<std::string_view, 4> kWords<model::Pod::Phase>{"pending", "starting", "ready",
                                                                           "terminating"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<model::Gang::Phase>{"pending", "starting", "ready", "draining"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<model::Node::Phase>{"ready", "cordoned", "terminating"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<model::Claim::Phase>{"requested", "launched", "registered",
                                                                             "failed"};
template <>
inline constexpr std::array<std::string_view, 5> kWords<model::TopologyLevel>{"node", "nvlink", "rack", "zone",
                                                                              "cluster"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<model::CapacityType>{"on_demand", "spot", "reserved"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<model::Role>{"both", "prefill", "decode"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<model::Signal::State>{"missing", "stale", "value"};

template <typename Enum>
constexpr std::string_view word(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

/// The signals of a replica by the name they have in a file.
struct SignalField {
  std::string_view name;
  model::Signal model::ReplicaSignals::* field;
  bool counter = false;  ///< grows since the engine's start
};
inline constexpr std::array<SignalField, 8> kSignalFields{{
    {"waiting", &model::ReplicaSignals::waiting},
    {"running", &model::ReplicaSignals::running},
    {"kv_usage_ppm", &model::ReplicaSignals::kv_usage_ppm},
    {"duty_cycle_percent", &model::ReplicaSignals::duty_cycle_percent},
    {"memory_used_percent", &model::ReplicaSignals::memory_used_percent},
    {"ttft_p99_us", &model::ReplicaSignals::ttft_p99_us},
    {"prompt_tokens_total", &model::ReplicaSignals::prompt_tokens_total, true},
    {"generated_tokens_total", &model::ReplicaSignals::generated_tokens_total, true},
}};

}  // namespace capstan::archive
