#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/shared_table.h"
#include "base/time.h"
#include "model/catalog.h"
#include "model/catalog_change.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/replica_signals.h"
#include "model/signal.h"

namespace capstan::model {

/// State of one service that is not part of a replica.
struct ServiceState {
  ReplicaCount desired_replicas = 0;  ///< replicas that the workload object asks for now (`/scale` spec.replicas)
  /// Draining replicas that `desired_replicas` still counts. `desired_replicas` is lowered when they are gone.
  ReplicaCount leaving = 0;
  Signal gateway_waiting;  ///< requests that the gateway holds because no replica could take them
  friend bool operator==(const ServiceState&, const ServiceState&) = default;
};

/// The state of a cluster at one moment, with everything that a decision may know. It is immutable after it was
/// published, and copies share structure.
struct Snapshot {
  std::uint64_t version = 0;
  Instant at;
  std::shared_ptr<const Catalog> catalog;
  SharedTable<ServiceId, ServiceState> services;
  SharedTable<NodeId, Node> nodes;
  SharedTable<ClaimId, Claim> claims;
  SharedTable<GangId, Gang> gangs;
  SharedTable<PodId, Pod> pods;
  /// Signals of the replicas. They change with each scrape, so they are not part of the rows of gangs, which change
  /// rarely. A replica without a row has reported no signal.
  SharedTable<GangId, ReplicaSignals> signals;

  /// Returns the signals of a replica. All of them are missing if the replica has reported none.
  const ReplicaSignals& signals_of(GangId gang) const {
    static const ReplicaSignals kSilent{};
    const ReplicaSignals* row = signals.find(gang);
    return row == nullptr ? kSilent : *row;
  }
};

/// The changes between two snapshots: ids of rows that were set or erased, ascending and without duplicates, and the
/// tables of the catalog that differ. The catalog of a simulation does not change.
struct Delta {
  std::uint64_t from_version = 0;
  std::uint64_t to_version = 0;
  std::vector<ServiceId> services;
  std::vector<NodeId> nodes;
  std::vector<ClaimId> claims;
  std::vector<GangId> gangs;
  std::vector<PodId> pods;
  std::vector<GangId> signals;  ///< replicas whose signals changed
  CatalogChange catalog{};

  bool empty() const {
    return services.empty() && nodes.empty() && claims.empty() && gangs.empty() && pods.empty() && signals.empty() &&
           !catalog.any();
  }
};

/// Returns a hash of the snapshot's time and of every row. It is the same on every machine. Version and catalog are not
/// included.
std::uint64_t state_hash(const Snapshot& snapshot);

}  // namespace capstan::model
