#pragma once

#include <cstdint>
#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/level.h"
#include "model/resources.h"

namespace capstan::model {

/// A registered machine.
struct Node {
  enum class Phase : std::uint8_t {
    ready,        ///< accepts pods
    cordoned,     ///< accepts no new pods; its pods keep running
    terminating,  ///< is being removed; its pods were asked to stop
  };
  Phase phase = Phase::ready;
  PoolId pool;          ///< pool of the node; none: it belongs to no pool
  OfferingId offering;  ///< offering that was bought; it determines GPU kind and price
  ClaimId claim;
  GpuKindId gpu;            ///< none: the node has no GPUs
  MilliGpu gpus;            ///< allocatable GPUs
  bool is_foreign = false;  ///< true: another system bought the node and will release it
  DomainPath domains;
  NodeClassId node_class{};  ///< none: admits every pod
  /// Resources other than GPUs that the pods on the node leave free. No value: they are not known and do not limit
  /// pods.
  std::optional<Resources> available{};
  Instant ready_at;
  friend bool operator==(const Node&, const Node&) = default;
};

/// The request for one node. The claim stays after its node has registered.
struct Claim {
  enum class Phase : std::uint8_t { requested, launched, registered, failed };
  Phase phase = Phase::requested;
  PoolId pool;
  OfferingId offering;
  DomainId domain;              ///< domain in which the node must be; none: anywhere in the offering's zone
  ClaimGroupId group;           ///< group of claims that are useful only together
  std::int64_t group_size = 0;  ///< claims in the group; 0: not stated
  Instant requested_at;
  Instant expected_ready_at = Instant::never();  ///< predicted time at which its node is ready; never: unknown
  NodeId node;                                   ///< node that registered; none before
  friend bool operator==(const Claim&, const Claim&) = default;
};

}  // namespace capstan::model
