#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/shared_table.h"
#include "base/time.h"
#include "model/catalog.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/signal.h"

namespace capstan::model {

/// What is seen of one service from outside its replicas.
struct ServiceState {
  ReplicaCount desired_replicas = 0;  ///< what the workload object asks for now (`/scale` spec.replicas)
  ReplicaCount leaving = 0;           ///< of these, that drain first: then fewer are asked for
  Signal gateway_waiting;             ///< requests held by the gateway because no replica could take them
  friend bool operator==(const ServiceState&, const ServiceState&) = default;
};

/// Everything a decision may know, at one moment. Immutable once handed out; copies share structure.
struct Snapshot {
  std::uint64_t version = 0;
  Instant at;
  std::shared_ptr<const Catalog> catalog;
  SharedTable<ServiceId, ServiceState> services;
  SharedTable<NodeId, Node> nodes;
  SharedTable<ClaimId, Claim> claims;
  SharedTable<GangId, Gang> gangs;
  SharedTable<PodId, Pod> pods;
};

/// What changed between two snapshots: ids of rows that were set or erased, each once, ascending.
struct Delta {
  std::uint64_t from_version = 0;
  std::uint64_t to_version = 0;
  std::vector<ServiceId> services;
  std::vector<NodeId> nodes;
  std::vector<ClaimId> claims;
  std::vector<GangId> gangs;
  std::vector<PodId> pods;

  bool empty() const { return services.empty() && nodes.empty() && claims.empty() && gangs.empty() && pods.empty(); }
};

/// A hash of the moment and of every row, which is the same on every machine. The version and the catalog are not in
/// it.
std::uint64_t state_hash(const Snapshot& snapshot);

}  // namespace capstan::model
