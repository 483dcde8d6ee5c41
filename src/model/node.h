#pragma once

#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/topology.h"

namespace capstan::model {

/// A registered machine.
struct Node {
  enum class Phase : std::uint8_t {
    ready,        ///< accepts pods
    cordoned,     ///< accepts no new pods; its pods keep running
    terminating,  ///< is being removed; its pods were asked to stop
  };
  Phase phase = Phase::ready;
  PoolId pool;          ///< none for a node that Capstan did not launch
  OfferingId offering;  ///< offering that was bought; it determines GPU kind and price
  ClaimId claim;
  GpuKindId gpu;
  MilliGpu gpus;      ///< allocatable
  bool kept = false;  ///< another system bought it and releases it
  DomainPath domains;
  Instant ready_at;
  friend bool operator==(const Node&, const Node&) = default;
};

/// A node that was requested and has not registered yet.
struct Claim {
  enum class Phase : std::uint8_t { requested, launched, registered, failed };
  Phase phase = Phase::requested;
  PoolId pool;
  OfferingId offering;
  DomainId within;              ///< domain in which it must land; none: anywhere in the offering's zone
  ClaimGroupId group;           ///< claims that are useful only together
  std::int64_t group_size = 0;  ///< claims of the group; 0: the claims do not state it
  Instant requested_at;
  Instant expected_ready_at;  ///< prediction made at the launch
  NodeId node;                ///< valid once registered
  friend bool operator==(const Claim&, const Claim&) = default;
};

}  // namespace capstan::model
