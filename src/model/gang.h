#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/gang_spec.h"
#include "model/ids.h"

namespace capstan::model {

/// One pod of a gang.
struct Pod {
  enum class Phase : std::uint8_t {
    pending,      ///< exists, not bound to a node
    starting,     ///< bound; pulls its image, loads weights, warms up
    ready,        ///< serves requests
    terminating,  ///< was asked to stop and still holds its GPUs
  };
  Phase phase = Phase::pending;
  GangId gang;
  MilliGpu gpus;
  NodeId node;  ///< node of the pod; none while pending, and for a running pod whose node has no row
  Instant created_at;
  QueueId queue{};  ///< queue of the pod; none: no queue limits it
  /// Devices of the node that the pod holds, by their numbers, with equal shares; empty: not known. A
  /// device that no longer exists has a number that is at least the node's number of GPUs.
  std::vector<std::uint16_t> devices{};
  std::uint8_t set = 0;  ///< number of its pod set (GangSpec::set)
  friend bool operator==(const Pod&, const Pod&) = default;
};

/// One replica: pods that are useful only together.
struct Gang {
  enum class Phase : std::uint8_t {
    pending,   ///< at least one pod is not bound
    starting,  ///< all pods are bound; does not serve yet
    ready,     ///< serves: the router sends it requests
    draining,  ///< gets no new requests and finishes its running ones
    sleeping,  ///< not needed now; keeps its GPUs and is woken before another replica is created
  };
  Phase phase = Phase::pending;
  ServiceId service;
  std::uint32_t ordinal = 0;  ///< replica number within the service, equal to that of its PlannedGang
  std::vector<PodId> pods;    ///< existing pods in the order of their index; a lost pod is left out
  GangSpec spec;              ///< request of its pods; pod classes are known only while the gang is pending
  Instant created_at;
  bool resumed = false;  ///< true: it changed its role or was woken, so its start is no cold start
  Instant expected_ready_at = Instant::never();  ///< predicted from earlier starts; valid while starting
  /// Time from which the init containers of all its pods had ended; never: not known, or there are no init containers.
  Instant initialized_at = Instant::never();
  /// Time from which the containers of all its pods ran, so that all images were pulled; never: not known.
  Instant containers_started_at = Instant::never();
  friend bool operator==(const Gang&, const Gang&) = default;

  /// Returns true if the replica gets no requests because it drains or sleeps.
  bool is_leaving() const { return phase == Phase::draining || phase == Phase::sleeping; }
};

/// A replica that was decided but has no pods yet, because the workload controller creates them later. It represents
/// the gang from the decision on, so that capacity is counted once and nodes can be bought before the pods exist.
struct PlannedGang {
  ServiceId service;
  std::uint32_t ordinal = 0;
  Instant decided_at;
  friend bool operator==(const PlannedGang&, const PlannedGang&) = default;
};

}  // namespace capstan::model
