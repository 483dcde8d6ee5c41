#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "decide/place/new_nodes.h"
#include "decide/place/place.h"
#include "model/ids.h"
#include "model/snapshot.h"

// Nodes on their way and the gangs that wait for them. Placement nominates gangs to claims, and provisioning buys no
// nodes for a gang that is nominated.
namespace capstan::decide::place {

/// Returns true if the claim's node is on its way and not yet in the snapshot.
bool in_transit(const model::Claim& claim, const model::Snapshot& snapshot);
/// Returns true if pods can wait for the claim's node: it is in transit, or it has registered and has never been ready.
bool is_expected(const model::Claim& claim, const model::Snapshot& snapshot);

/// A node that is on its way: asked for or bought, and not ready yet.
struct ExpectedNode {
  model::Purchase bought;
  GpuKindId gpu;
  DomainId domain;                           ///< smallest domain known to contain the node; its zone or smaller
  FreeGpus free;                             ///< GPUs that this decision has not yet assigned to waiting pods
  std::optional<model::Resources> others{};  ///< other resources that are left; none: not known
  model::ClaimId claim{};                    ///< none: the launch was decided, and its claim has not appeared yet
  Instant ready_at = Instant::never();       ///< predicted time; never: unknown
};

/// The nodes on their way that together have room for a gang.
struct Nomination {
  std::int64_t nodes = 0;
  model::ClaimId last{};                ///< claim of the node that is expected last; none: it has no claim yet
  PoolId pool{};                        ///< pool of that node
  Instant ready_at = Instant::never();  ///< predicted time of that node; never: unknown
};

/// Returns the number of pods of all sets.
std::int64_t sum_of(const PodCounts& counts);

/// Returns the reason for which a gang waits for the nodes of a nomination, with the time that is left.
model::Reason reason_of(const Nomination& nomination, Instant now);

/// The nodes on their way, on which gangs without room reserve GPUs in the order in which gangs are served.
class ExpectedNodes {
 public:
  explicit ExpectedNodes(const NewNodes& new_nodes) : new_nodes_(new_nodes), catalog_(new_nodes.catalog()) {}

  /// Adds the expected claims for which `counts(claim)` is true, and sorts all nodes by their predicted time. Gangs use
  /// the nodes in this order.
  template <typename Counts>
  void add_claims(const model::Snapshot& snapshot, Counts counts) {
    snapshot.claims.for_each([&](model::ClaimId id, const model::Claim& claim) {
      if (is_expected(claim, snapshot) && counts(claim)) add(claim, id);
    });
    sort();
  }
  /// Adds the nodes of a launch that has no claims yet. They come after all other nodes.
  /// @param domain  smallest domain known to contain the nodes; none: the zone of the offering
  void add(const model::Purchase& bought, DomainId domain, std::int64_t count);

  std::vector<ExpectedNode>& nodes() { return nodes_; }
  const std::vector<ExpectedNode>& nodes() const { return nodes_; }
  GpuCount gpus() const { return gpus_; }  ///< GPUs of all nodes that were added

  /// Finds the nodes on their way with which the whole gang has room at the earliest time, and reserves that room. In
  /// the best domain of the gang, free GPUs count too, unless an earlier gang uses them. Returns nothing if there is
  /// too little room.
  std::optional<Nomination> nominate(const Shortfall& lack);

  /// Returns the pods that need a new node if the gang goes to this domain. The free GPUs of the best domain count only
  /// for the first gang that asks for them.
  PodCounts lacking(const Shortfall& lack, DomainId domain) const;
  /// Returns the pods, of the given ones, for which the nodes on their way to the domain have no room.
  PodCounts without_room(const Shortfall& lack, DomainId domain, const PodCounts& pods) const;
  /// Reserves room for the pods on nodes that are on their way to the domain.
  void reserve(const Shortfall& lack, DomainId domain, const PodCounts& pods);
  /// Notes that a gang uses the free GPUs of its best domain.
  void use_free(DomainId best) { used_domains_.insert(best); }

 private:
  void add(const model::Claim& claim, model::ClaimId id);
  void sort();
  PodCounts slots(const Shortfall& lack, const ExpectedNode& expected, DomainId domain, const PodCounts& most) const;
  DomainId at_level(DomainId domain, model::Level level) const;
  std::vector<DomainId> candidates(const Shortfall& lack) const;
  std::optional<Nomination> find(const Shortfall& lack, DomainId domain, const PodCounts& pods) const;

  const NewNodes& new_nodes_;
  const model::Catalog& catalog_;
  std::vector<ExpectedNode> nodes_;
  GpuCount gpus_ = 0;
  std::set<DomainId> used_domains_;  ///< best domains whose free GPUs an earlier gang uses
};

/// Returns how many pods fit on what is left of the node.
std::int64_t pods_on(const ExpectedNode& expected, MilliGpu gpus_per_pod, const model::Resources& requests);
/// Takes the room of a pod that fits.
void take(ExpectedNode& expected, MilliGpu gpus, const model::Resources& requests);

/// Returns how many pods of each set of the gang the node takes together, at most `most`. The sets are served in their
/// order.
PodCounts pods_on(const ExpectedNode& expected, const Shortfall& lack, const model::Catalog& catalog,
                  const PodCounts& most);

/// Returns true if the gang must fit on one node.
inline bool needs_one_node(const Shortfall& lack) { return lack.spec.required_level == TopologyLevel::node; }

/// Returns true if the shortfall has a best domain. At level `cluster` this domain may have no id; it then counts if it
/// has free GPUs.
inline bool has_best(const Shortfall& lack) {
  return lack.best_domain.valid() ||
         (lack.spec.required_level == model::TopologyLevel::cluster && lack.best_free > MilliGpu{});
}

}  // namespace capstan::decide::place
