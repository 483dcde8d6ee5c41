#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/enum_names.h"
#include "model/offering.h"

namespace capstan::model {

/// Names of a capacity type: `key` in snapshot files, `label` in Kubernetes labels (Karpenter's word) and in reports.
struct CapacityName {
  std::string_view key;
  std::string_view label;
};
/// In the order of `CapacityType`.
inline constexpr std::array<CapacityName, 3> kCapacityNames{
    {{"on_demand", "on-demand"}, {"spot", "spot"}, {"reserved", "reserved"}}};

inline constexpr auto kCapacityKeys = enum_column(kCapacityNames, &CapacityName::key);
inline constexpr auto kCapacityLabels = enum_column(kCapacityNames, &CapacityName::label);

constexpr const CapacityName& name(CapacityType type) { return kCapacityNames[static_cast<std::size_t>(type)]; }

}  // namespace capstan::model
