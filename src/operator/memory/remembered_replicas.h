#pragma once

#include <map>
#include <string>
#include <vector>

#include "decide/scale/scale.h"
#include "kube/pod_view.h"
#include "operator/memory/checkpoint.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

// What a policy remembers of single replicas, it remembers by the id that their gang has in this process. A checkpoint
// names the pod that speaks for the gang, so that a successor finds it again; and he gives ids in the same order, so
// that sums over replicas come out to the last bit.

/// The memory for a checkpoint. Replicas that are gone are forgotten: the next decision would do so.
Checkpoint::Row portable(decide::scale::Memory memory, const SnapshotBuilder& objects);

/// The pods that the rows speak of and that still exist, each row's in its order.
std::vector<const kube::Pod*> remembered_pods(const Checkpoint& checkpoint, const ClusterView& view);

/// The memory of a row for the process whose snapshot this is. A replica whose counters are below what is remembered
/// counts as never read: its engine was restarted at a time at which we did not look, or the two processes began to
/// count at different times, and neither is a burst of tokens.
decide::scale::Memory adopted(const Checkpoint::Row& row, const SnapshotBuilder& objects,
                              const model::Snapshot& snapshot);

}  // namespace capstan::op
