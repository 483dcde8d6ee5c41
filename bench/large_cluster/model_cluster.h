#pragma once

#include <string>

#include "archive/saved_state.h"
#include "large_cluster/layout.h"
#include "model/snapshot.h"

namespace capstan::bench {

/// Time of the snapshot: one day after the start of its clock.
inline constexpr Instant kNow{std::chrono::hours(24)};

/// Returns the cluster as the snapshot builder would describe it, with the names and signals of its rows, the policies
/// `gang` and `whole_groups`, and no memory.
archive::SavedState model_cluster(const Layout& layout);

/// A snapshot that differs from another one by a few rows.
struct Change {
  model::Snapshot after;
  model::Delta delta;
};
Change pod_ends(const model::Snapshot& before, const Layout& layout);      ///< the first bound gang of one pod ends
Change node_appears(const model::Snapshot& before, const Layout& layout);  ///< an empty node of class 0
Change gang_appears(const model::Snapshot& before, const Layout& layout);  ///< a pending gang of eight pods

/// Returns the cluster with only one pending gang. It needs sixteen empty nodes in one rack, and at most ten nodes of a
/// rack admit its pods.
model::Snapshot only_unplaceable_gang(const model::Snapshot& before, const Layout& layout);

/// Returns the cluster with other pending gangs, as many as before. Nine in ten have four pods of one GPU. One in ten
/// needs 48 empty nodes, so that at most a few of these gangs fit. The pods of each gang must be inside one domain of
/// the level.
model::Snapshot with_gangs_of_level(const model::Snapshot& before, model::TopologyLevel level);

/// Counts of a placement, which are the same on every machine, and whether it keeps the rules.
struct PlacementCounts {
  std::size_t placed = 0;      ///< gangs
  std::size_t bound_pods = 0;  ///< pods that the plan binds
  std::size_t cannot_fit = 0;  ///< gangs without room now
  std::size_t other = 0;       ///< gangs with any other verdict
  std::string broken;          ///< first broken rule; empty if there is none
  friend bool operator==(const PlacementCounts&, const PlacementCounts&) = default;
};

/// Checks a decision without the index that it was made with: every gang is placed whole or not at all, inside one
/// domain of its level, on nodes of its class, and no node holds more than it has.
PlacementCounts check_placement(const model::Snapshot& snapshot, const Layout& layout,
                                const decide::place::Decision& decision);

}  // namespace capstan::bench
