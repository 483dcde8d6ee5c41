#pragma once

#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/topology.h"

namespace capstan::model {

/// A machine that has registered.
struct Node {
  enum class Phase : std::uint8_t {
    ready,        ///< takes pods
    cordoned,     ///< takes no new pod; those on it run on
    terminating,  ///< going away: its pods have been told
  };
  Phase phase = Phase::ready;
  PoolId pool;          ///< none for a node that nobody here launched
  OfferingId offering;  ///< what it was bought as; decides GPU kind and price
  ClaimId claim;
  GpuKindId gpu;
  MilliGpu gpus;      ///< allocatable
  bool kept = false;  ///< somebody else bought it, and gives it back
  DomainPath domains;
  Instant ready_at;
  friend bool operator==(const Node&, const Node&) = default;
};

/// A node on its way.
struct Claim {
  enum class Phase : std::uint8_t { requested, launched, registered, failed };
  Phase phase = Phase::requested;
  PoolId pool;
  OfferingId offering;
  DomainId within;              ///< the domain it must land in; none = anywhere in the offering's zone
  ClaimGroupId group;           ///< claims that only make sense together
  std::int64_t group_size = 0;  ///< how many claims that are, where the claims say so; 0: they do not
  Instant requested_at;
  Instant expected_ready_at;  ///< predicted by whoever launched it
  NodeId node;                ///< once registered
  friend bool operator==(const Claim&, const Claim&) = default;
};

}  // namespace capstan::model
