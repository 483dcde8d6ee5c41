#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace capstan::actuate {

/// Which of its replicas a workload gives up when fewer are asked for.
enum class Removal : std::uint8_t {
  any,      ///< those that are marked: a Deployment
  highest,  ///< those with the highest ordinal: a StatefulSet, a LeaderWorkerSet
  unknown,  ///< nobody here knows
};

Removal removal_of(std::string_view kind);

/// A replica, as far as it matters for who goes.
struct Removable {
  std::string name;
  std::optional<std::uint32_t> ordinal;
  std::optional<std::size_t> rank;  ///< in the decision's list, least to lose first; none: it is not in it
  bool serves = true;               ///< ready; a ReplicaSet gives up first who is not
};

/// The replicas that will be gone when `wanted` are asked for, as indices, first to go first. Where the workload
/// chooses, what it will choose, whatever the decision would like; where it is ours, those that do not serve, then the
/// decision's, then by name. None where nobody knows.
/// @param first_ordinal  of the workload's first replica (`spec.ordinals.start`)
std::vector<std::size_t> choose_victims(Removal removal, std::span<const Removable> replicas,
                                        std::uint32_t first_ordinal, ReplicaCount wanted);

}  // namespace capstan::actuate
