#pragma once

#include <cstdint>
#include <vector>

#include "decide/place/place.h"
#include "decide/place/queue_budget.h"
#include "model/catalog.h"
#include "model/gang.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

/// The pods of a gang, grouped by whether they need a node.
struct GangPods {
  Shortfall request;                ///< the gang and the request of the pods that need a node
  std::vector<PodId> without_node;  ///< pods that need a node, in the order of the sets of `request.spec`
  std::vector<NodeId> bound;        ///< nodes of the other pods
  std::int64_t have_node = 0;       ///< pods with a node, including nodes that are not in the snapshot
  QueueDemand ask;                  ///< GPUs that `without_node` would add to their queues
  std::int64_t leaving = 0;         ///< pods that terminate or are gone
};

GangPods gang_pods_of(const model::Snapshot& snapshot, GangId id, const model::Gang& gang);
/// Returns the pods of a replica that has no pods yet. All of them need a node.
GangPods gang_pods_of(const model::Catalog& catalog, const model::PlannedGang& planned);

/// Returns true if a pod has a node. The node may be absent from the snapshot, for example while its device plugin
/// restarts; its pods keep running.
bool has_node(const model::Pod& pod);

/// Returns true if some pods of the gang have a node, but too few to be useful. The first pod serves the requests:
/// while it is ready, the gang is useful with any number of pods.
bool is_broken(const model::Snapshot& snapshot, const model::Gang& gang);

}  // namespace capstan::decide::place
