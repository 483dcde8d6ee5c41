#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "model/capacity_names.h"
#include "model/gang.h"
#include "model/node.h"
#include "model/offering.h"
#include "model/phase_names.h"
#include "model/pod_rule.h"
#include "model/role_names.h"
#include "model/service.h"
#include "model/signal.h"
#include "model/topology_names.h"

// The names of enum values in a snapshot file, in the order of their enums. The writer looks up the name of a value,
// the reader the value of a name.
namespace capstan::archive {

template <typename Enum>
inline constexpr auto kWords = nullptr;

template <>
inline constexpr auto kWords<model::Pod::Phase> = model::kPodPhaseNames;
template <>
inline constexpr auto kWords<model::Gang::Phase> = model::kGangPhaseNames;
template <>
inline constexpr auto kWords<model::Node::Phase> = model::kNodePhaseNames;
template <>
inline constexpr auto kWords<model::Claim::Phase> = model::kClaimPhaseNames;
template <>
inline constexpr auto kWords<model::TopologyLevel> = [] {
  std::array<std::string_view, model::kTopologyLevels> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = model::kLevelNames[i].key;
  return keys;
}();
template <>
inline constexpr auto kWords<model::PodRule> = [] {
  std::array<std::string_view, model::kPodRuleNames.size()> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = model::kPodRuleNames[i].key;
  return keys;
}();
template <>
inline constexpr auto kWords<model::CapacityType> = model::kCapacityKeys;
template <>
inline constexpr auto kWords<model::Role> = model::kRoleNames;
template <>
inline constexpr auto kWords<model::Signal::State> = model::kSignalStateNames;

template <typename Enum>
constexpr std::string_view word(Enum value) {
  return kWords<Enum>[static_cast<std::size_t>(value)];
}

}  // namespace capstan::archive
