#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "decide/index.h"

namespace capstan::decide::place {

/// Equal pods that must land inside one domain of a level.
struct Request {
  GpuKindId gpu;
  TopologyLevel level = TopologyLevel::node;
  std::int64_t pods = 1;
  MilliGpu gpus_per_pod;
  DomainId only_domain;  ///< where other pods of the gang are already; none = any
  NodeId only_node;      ///< one node on which they are; none = any
};

/// Where they go, or how close the best place comes.
struct Fit {
  std::vector<NodeId> nodes;  ///< one for each pod; empty when they do not fit
  DomainId best_domain;       ///< takes the most pods (ties: fullest, then lowest id); at level `node` best_node
  NodeId best_node;
  MilliGpu best_free;
  std::int64_t best_pods = 0;  ///< how many of the pods fit there
};

/// How many pods of this size a node takes now.
std::int64_t slots(const NodeRoom& room, MilliGpu gpus_per_pod);

/// The fullest domain that takes all pods (ties by id). Inside it nodes in use are filled before untouched ones are
/// opened; among nodes that take all that is left the fullest wins, else the one that takes the most.
Fit best_fit(const Rooms& rooms, const Request& request);

/// The first open node, by id, with room for one pod; none if there is none.
NodeId first_with_room(const Rooms& rooms, GpuKindId gpu, MilliGpu gpus);

/// How many pods of this size the largest domain of the level would take, were it empty.
std::int64_t most_pods_ever(const Rooms& rooms, const Request& request);

}  // namespace capstan::decide::place
