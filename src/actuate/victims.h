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

/// The replicas that a workload removes when it is scaled down.
enum class Removal : std::uint8_t {
  marked,   ///< the replicas marked for deletion (Deployment, ReplicaSet)
  highest,  ///< the replicas with the highest ordinals (StatefulSet, LeaderWorkerSet)
  unknown,  ///< not known, for any other kind of workload
};

Removal removal_of(std::string_view kind);

/// A replica with everything that the choice of victims depends on.
struct RemovableReplica {
  std::string name;
  std::optional<std::uint32_t> ordinal;
  std::optional<std::size_t> rank;  ///< position in the decision's list, best victim first; none: not in the list
  bool serves = true;               ///< the replica is ready; a ReplicaSet removes replicas that are not ready first
};

/// Returns the indices of the replicas that will be removed if the workload is scaled to `wanted`, first victim first.
/// If the workload chooses, this predicts its choice. If Capstan chooses, the order is: replicas that do not serve,
/// then the decision's list, then by name. Returns none for `Removal::unknown`.
/// @param first_ordinal  ordinal of the first replica (`spec.ordinals.start`)
std::vector<std::size_t> choose_victims(Removal removal, std::span<const RemovableReplica> replicas,
                                        std::uint32_t first_ordinal, ReplicaCount wanted);

}  // namespace capstan::actuate
