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

// A policy remembers single replicas by the gang id of this process. A checkpoint names the first pod of each gang
// instead, so that the next leader can find the replica. The next leader assigns ids in the same order. It then adds
// floating-point values of replicas in the same order, so the sums are exactly equal.

/// Returns the memory in the form of a checkpoint. It leaves out replicas that no longer exist, as the next decision
/// would.
Checkpoint::Row to_checkpoint_row(decide::scale::Memory memory, const SnapshotBuilder& objects);

/// Returns the pods that the rows name and that still exist, in the order of the rows and of their replicas.
std::vector<const kube::Pod*> remembered_pods(const Checkpoint& checkpoint, const ClusterView& view);

/// Returns the memory of a row in terms of this process's snapshot. A replica whose counters are below the remembered
/// values counts as never read. Either its engine has restarted since, or the two processes started to count at
/// different times. In both cases the difference is not a burst of tokens.
decide::scale::Memory from_checkpoint_row(const Checkpoint::Row& row, const SnapshotBuilder& objects,
                                          const model::Snapshot& snapshot);

}  // namespace capstan::op
