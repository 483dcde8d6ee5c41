#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/known_row.h"
#include "model/snapshot.h"

namespace capstan::fleet::testing {

/// A snapshot that a test builds row by row; every added row gets the next id.
class World {
 public:
  /// Builds a snapshot with two GPU kinds, cluster > two zones > two racks each > two NVLink domains each, and one
  /// service of one-node gangs on the first kind.
  World();

  model::Snapshot snapshot;
  model::Catalog& catalog() { return *catalog_; }

  model::DomainId nvlink(std::size_t n) const { return known_row(nvlinks_, n); }
  model::DomainId rack(std::size_t n) const { return known_row(racks_, n); }
  model::DomainId zone(std::size_t n) const { return known_row(zones_, n); }

  /// Adds a ready node to an NVLink domain and to its rack and zone.
  model::NodeId node(std::size_t nvlink_domain, std::int64_t gpus = 8);
  /// Adds a pending gang; each pod asks for whole GPUs.
  model::GangId gang(std::int64_t pods, std::int64_t gpus_per_pod, model::TopologyLevel required_level,
                     std::int64_t at_s = 0);
  /// Adds a queue with a GPU limit, below `parent` if there is one.
  model::QueueId queue(std::int64_t limit_gpus, model::QueueId parent = {});
  /// Puts the pods of the gang into a queue.
  void enqueue(model::GangId gang, model::QueueId queue);
  /// Binds every pod of the gang to the node and sets the gang's phase.
  void bind(model::GangId gang, model::NodeId node, model::Gang::Phase phase = model::Gang::Phase::ready);
  /// Binds one pod of the gang.
  void bind_pod(model::GangId gang, std::size_t pod, model::NodeId node);
  model::OfferingId offering(std::int64_t gpus, std::size_t zone, std::int64_t usd_per_hour);
  model::PoolId pool(std::vector<model::OfferingId> offerings, GpuCount limit);
  model::ClaimId claim(model::PoolId pool, model::OfferingId offering, model::Claim::Phase phase, std::int64_t at_s,
                       model::ClaimGroupId group = {}, model::DomainId domain = {});

  /// Adds a class of pods that may run on nodes of these classes.
  model::PodClassId pod_class(std::vector<bool> node_classes, model::Resources requests = {});
  /// Makes the pods of a gang members of a class.
  void classify(model::GangId gang, model::PodClassId pod_class);
  /// Makes a node a member of a class.
  void classify(model::NodeId node, model::NodeClassId node_class);
  /// Sets the resources of a node other than GPUs.
  void set_available(model::NodeId node, model::Resources available);

  /// Replaces the catalog of the snapshot by a changed copy, and returns the tables that differ. Copies of the snapshot
  /// keep the old catalog.
  template <typename Edit>
  model::CatalogChange edit_catalog(Edit edit) {
    auto next = std::make_shared<model::Catalog>(*catalog_);
    edit(*next);
    const model::CatalogChange change = model::changes_between(*catalog_, *next);
    snapshot.catalog = catalog_ = std::move(next);
    return change;
  }

  std::uint32_t next_node = 0, next_gang = 0, next_pod = 0, next_claim = 0;

 private:
  model::DomainId domain(std::string name, model::TopologyLevel level, model::DomainId parent);
  std::shared_ptr<model::Catalog> catalog_ = std::make_shared<model::Catalog>();
  std::vector<model::DomainId> zones_, racks_, nvlinks_;
};

/// Makes a random cluster: nodes of every phase, gangs of every level, pods bound where they fit.
World random_world();

/// Sets or erases random rows and edits the catalog, as can happen between two observations, and returns the delta.
model::Delta change_at_random(World& world);

constexpr Instant at(std::int64_t seconds) { return {std::chrono::seconds(seconds)}; }

}  // namespace capstan::fleet::testing
