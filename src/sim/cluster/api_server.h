#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/snapshot.h"
#include "ports/world.h"

namespace capstan::sim {

/// The rows of the cluster as its API server has them, and which of them changed since the last observation.
/// Every part of the cluster reads all rows and writes its own.
class ApiServer {
 public:
  explicit ApiServer(std::shared_ptr<const model::Catalog> catalog) { rows_.catalog = std::move(catalog); }

  const model::Snapshot& rows() const { return rows_; }
  const model::Catalog& catalog() const { return *rows_.catalog; }

  /// Returns an id that no gang has had.
  model::GangId new_gang() { return {next_gang_++}; }

  void set(model::ServiceId id, model::ServiceState row);
  void set(model::NodeId id, model::Node row);
  void set(model::ClaimId id, model::Claim row);
  void set(model::GangId id, model::Gang row);
  void set(model::GangId id, const model::ReplicaSignals& row);
  void set(model::PodId id, model::Pod row);
  void erase(model::NodeId id);
  void erase(model::ClaimId id);
  void erase(model::GangId id);
  void erase(model::PodId id);
  /// Marks the claim as failed. The row is removed after it was in one observation.
  void fail(model::ClaimId id);
  std::size_t failed_claims() const { return failed_claims_.size(); }

  /// Returns a copy of all rows, the changes since the last call, and the given outcomes.
  ports::Observation observe(Instant now, std::vector<ports::Outcome> outcomes);

 private:
  model::Snapshot rows_;
  model::Delta changed_;  ///< changes since the last observation; not sorted, may contain an id twice
  std::vector<model::ClaimId> failed_claims_;
  std::uint32_t next_gang_ = 0;
};

}  // namespace capstan::sim
