#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "decide/fleet_nouns.h"
#include "model/eligibility.h"

namespace capstan::decide::place {

/// Equal pods that must land inside one domain of a level.
struct Request {
  GpuKindId gpu{};
  model::Level level = TopologyLevel::node;
  std::int64_t pods = 1;
  MilliGpu gpus_per_pod{};
  const model::PodClass* pod_class = nullptr;  ///< null: the pods may run on every node and need only GPUs
  DomainId only_domain{};                      ///< domain of the gang's bound pods; none: any
  NodeId only_node{};                          ///< node of a bound pod of the gang; none: any
  /// Failure domains of `avoided_level` that may take no pod now. Null: no domain is avoided.
  const std::set<FailureDomain>* avoided = nullptr;
  TopologyLevel avoided_level = TopologyLevel::zone;
};

/// The result of a search: the nodes for the pods, or else the best place and the number of pods that it takes.
struct Fit : BestPlace {
  std::vector<NodeId> nodes;  ///< one for each pod; empty if they do not fit
};

/// Totals over the nodes that the pods of a request may use.
struct Room {
  std::int64_t nodes = 0;
  std::int64_t pods = 0;  ///< pods that fit now
  MilliGpu free;
};
Room room_in(const Rooms& rooms, const FreeNodes& nodes, const Request& request);

/// Returns the free GPUs that pods of the request can use. What is left of a shared device is of no use to pods of
/// whole GPUs.
MilliGpu usable(const FreeGpus& free, const Request& request);

/// Returns true if pods of the request may run on the node. Pods without GPUs may run on nodes of every GPU kind. Null:
/// there is no such node.
bool may_use(const NodeRoom* room, const Request& request);

/// Returns how many pods of the request a node takes now.
std::int64_t slots(const NodeRoom& room, NodeId id, const Request& request);

/// Returns how many pods of the request the nodes take together if nothing but GPUs limits them. No node is visited:
/// the nodes are counted by their class and their free GPUs. Other resources can only lower the number.
std::int64_t pods_by_gpus(const FreeNodes& nodes, const Request& request);

/// Finds the fullest domain that takes all pods; ties go to the lower id. Inside the domain, nodes in use are filled
/// before empty ones are opened. The node that takes the most pods is filled first. As soon as a node takes all
/// remaining pods, the fullest node that does so gets them. If no domain takes all pods, the result names the domain
/// that takes the most.
Fit best_fit(const Rooms& rooms, const Request& request);

/// Like best_fit() for pods with GPUs, but considers only one domain of the request's level.
Fit fit_inside(const Rooms& rooms, const Request& request, DomainId domain);

/// Updates a refusal, which is a fit without nodes, to what best_fit() returns after some nodes changed. Only changed
/// nodes and their domains are counted. The request must not name a node or avoided domains.
/// @return false if a search is needed, because the best place got worse, or because the level is `cluster` and a node
/// changed; the content of `refusal` is then undefined
bool revise(Fit& refusal, const Rooms& rooms, const Request& request, std::span<const AssumedRooms::Change> changes);

/// Returns the first node, by id, with room for one pod of the request; none if there is none.
NodeId first_with_room(const Rooms& rooms, const Request& request);

/// Returns how many pods of the request all nodes take together.
std::int64_t pods_that_fit(const Rooms& rooms, const Request& request);

/// Returns how many pods of the request the largest domain of its level would take by its GPUs if it were empty.
std::int64_t max_pods_if_empty(const Rooms& rooms, const Request& request);

}  // namespace capstan::decide::place
