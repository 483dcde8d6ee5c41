#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"
#include "decide/fleet_nouns.h"
#include "decide/options.h"
#include "decide/passes.h"
#include "decide/place/candidates.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

struct Policy {
  enum class Kind : std::uint8_t {
    first_fit,  ///< binds pod by pod, in the order of priority and age, to the first node (by id) with room; ignores
                ///< gangs
    gang,       ///< binds all pods of a gang at once inside one domain of its level, or none
  };
  Kind kind = Kind::gang;
  /// Time between two decisions of the loop; decide() itself does not check it.
  Duration period = std::chrono::seconds(1);
  /// Time for which a binding stays assumed after its action has ended, if no snapshot shows the binding. After this
  /// time the pods are placed again.
  Duration assume_for = std::chrono::seconds(30);
  /// Time for which a broken gang waits for nodes for its other pods (policy `gang`). The default is the one of KAI's
  /// default-staleness-grace-period: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/batch/README.md
  Duration broken_for = std::chrono::seconds(60);
  PassesOff off{};  ///< names of the passes that are switched off; each is one of pass_names()
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// Returns "first_fit" or "gang".
std::string_view name(Policy::Kind kind);
/// Returns the names of the policy's passes in their order. docs/design/passes.md describes them.
std::vector<std::string_view> pass_names(Policy::Kind kind);

/// The memory of placement. Its size is bounded by the unbound pods and the pending gangs.
struct Memory {
  /// A binding that was decided and that no snapshot shows yet. kube-scheduler calls its pod an assumed pod.
  struct AssumedBinding {
    model::PodId pod;
    model::NodeId node;
    model::GangId gang;
    MilliGpu gpus;
    Instant until;
    friend bool operator==(const AssumedBinding&, const AssumedBinding&) = default;
  };
  /// A gang in which some pods have a node, but too few to be useful.
  struct BrokenGang {
    model::GangId gang;
    Instant since;  ///< time since which it is broken, or at which its pods were last evicted
    friend bool operator==(const BrokenGang&, const BrokenGang&) = default;
  };
  std::vector<AssumedBinding> assumed;  ///< assumed bindings, ascending by pod
  std::vector<BrokenGang> broken;       ///< broken gangs, ascending by id
  friend bool operator==(const Memory&, const Memory&) = default;
};
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);
/// Drops the assumed bindings of a gang whose binding was refused or never submitted. The next decision places its pods
/// again.
void forget(Memory& memory, model::GangId gang);
/// Extends the assumed bindings of gangs whose actions are in flight to `until` at least. If an assumed binding ended
/// earlier, its node would look empty and could be given back before the pods are bound.
/// @param gangs  ids in ascending order
void keep_assumed(Memory& memory, std::span<const model::GangId> gangs, Instant until);

/// Numbers of pods of a gang, by their sets (model::GangSpec::set).
using PodCounts = std::array<std::int64_t, model::kMaxPodSets>;

/// The room that a gang lacks, for the provisioner. The gang is named by (service, ordinal), because it may be
/// planned and have no pods yet.
struct Shortfall {
  model::GangId gang;  ///< none while the gang is only planned
  model::ServiceId service;
  std::uint32_t ordinal = 0;
  model::GangSpec spec;         ///< request for all pods of the gang that need a node
  MilliGpu needed;              ///< GPUs of all these pods
  MilliGpu short_by;            ///< GPUs of the pods that do not fit in the best domain
  PodCounts short_pods{};       ///< pods that do not fit in the best domain
  model::DomainId best_domain;  ///< domain that takes the most pods; none at level `node` or if no domain exists yet
  model::NodeId best_node;      ///< only at level `node`
  MilliGpu best_free;           ///< free GPUs of the best domain or node
  bool bound_to_best = false;   ///< true: some pods of the gang run in the best domain, and the rest must join them
  /// Purchases in domains that already have their share of the service's replicas; ascending.
  std::vector<model::Purchase> avoided_purchases;
  model::DomainId preferred_zone;  ///< preferred zone among purchases of equal price; none: any
  /// True: the gang may not use free room in a domain that has its share of the service's replicas.
  bool spread_is_strict = false;
  model::Reason why{};  ///< what the gang lacks
  friend bool operator==(const Shortfall&, const Shortfall&) = default;

  /// Returns true if nodes of the purchase could run pods of at least one set of the gang.
  bool may_use(const model::Catalog& catalog, const model::Purchase& purchase) const {
    bool admits = false;
    for (std::size_t i = 0; i < spec.sets(); ++i) {
      admits = admits || catalog.eligibility.admits(spec.set(i).pod_class, purchase);
    }
    return admits && !avoids(purchase);
  }
  /// Returns true if the nodes would come into a domain that already has its share of the service's replicas.
  bool avoids(const model::Purchase& purchase) const { return std::ranges::binary_search(avoided_purchases, purchase); }
};

/// The decision about one pending gang.
struct PlacementResult {
  enum class Kind : std::uint8_t {
    placed,          ///< the plan binds it now
    assumed,         ///< was bound earlier, and no snapshot confirms it yet
    cannot_fit_now,  ///< cannot be placed now; if it lacks room, its shortfall gives the details
    held_by_queue,   ///< would exceed the limit of a queue, or a queue of its pods has a fault
    never_fits,      ///< larger than any domain that exists or can be bought
    nominated,       ///< has no room now and waits for nodes on their way that will have it
  };
  model::GangId gang;  ///< a pending gang; planned gangs have no result
  Kind kind = Kind::cannot_fit_now;
  model::Reason why;
  /// Gangs with a higher priority that wait for room, for nodes or for their queue; they are served before this gang.
  std::int64_t waiting_before = 0;
};

/// Returns the name of a verdict in files: "cannot_fit_now".
std::string_view name(PlacementResult::Kind kind);

struct Decision {
  /// One for every pending gang, in the order in which they are served. Policy `gang` leaves out the gangs of services
  /// whose pods another scheduler binds.
  std::vector<PlacementResult> verdicts;
  std::vector<Shortfall> shortfalls;  ///< policy `gang` only; pending gangs, then planned ones, in their order
  std::set<model::NodeId> nominated;  ///< nodes of pods that are assumed, bound by the plan, or planned
  model::Plan plan;                   ///< BindPods and EvictPod; reasons of the other gangs
  /// The searches for room, at most kMaxSearches; empty without Detail::candidates.
  std::vector<Search> searches{};
};

/// Nodes and claims that are being given back, although the snapshot may still show them as usable.
struct LeavingNodes {
  std::vector<model::NodeId> nodes;         ///< ascending; no pod is placed there, as Karpenter taints such a node
  std::vector<model::ClaimGroupId> groups;  ///< ascending; no gang is nominated to their claims
};

/// The nodes and claims that a placement must not use, and the options of the decision.
struct PlaceOptions {
  LeavingNodes leaving{};  ///< nodes and claims that are being given back (`provision::leaving`)
  Options options{};
};

/// Decides to which nodes pending pods go. Gangs with a higher priority are served first, and of these the older ones.
///
/// `first_fit` places pod by pod, as a scheduler without gangs does, and has the same defect: if two gangs of four pods
/// compete for seven free GPUs, some pods are bound and hold GPUs although the rest of their gang has no room.
///
/// `gang` never binds a part of a gang. It takes the fullest domain that has room for the gang; ties go to the lower
/// id. In the domain it first fills nodes that are in use. A gang that does not fit, or that would exceed the limit of
/// a queue, does not block later ones. No node is bought for a gang that waits for a queue. A gang without room is
/// nominated to nodes on their way if the whole gang will have room once they are ready (Claim::expected_ready_at);
/// earlier gangs choose first, and the nodes that are ready first are chosen. The pods of a broken gang are evicted
/// after `broken_for`, so that its workload creates it again. The sums of free GPUs by domain refuse most gangs without
/// a search.
///
/// @param index    index of the snapshot; only its cache `assumed` changes
/// @param planned  replicas without pods; nothing is bound for them. They reserve room after all pending gangs, those
///                 with a higher priority first. Each one without room adds a shortfall, unless its queue is full or it
///                 is larger than any domain that exists or can be bought
Decision decide(Index& index, const model::Snapshot& snapshot, std::span<const model::PlannedGang> planned,
                const Policy& policy, Memory& memory, Instant now, const PlaceOptions& with = {});

}  // namespace capstan::decide::place
