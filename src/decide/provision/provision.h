#pragma once

#include <cstdint>
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
#include "decide/place/place.h"
#include "decide/provision/offers.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::decide::provision {

/// Conditions under which nodes are given back.
struct Consolidation {
  model::ConsolidationPolicy policy = model::ConsolidationPolicy::when_empty;
  bool enabled = true;
  Duration after = std::chrono::hours(1);    ///< time for which the pods of a node must not have changed
  Duration poll = std::chrono::seconds(10);  ///< time between two passes; Karpenter's default
  /// Share of a pool's nodes that may terminate at the same time, rounded up.
  std::int64_t budget_percent = 10;
  /// Policy WhenEmptyOrUnderutilized only: a node is never given back if this share of its GPUs or more is used,
  /// millionths. 1'000'000 considers every node, as Karpenter does. Cluster Autoscaler uses 500'000.
  std::int64_t use_below_ppm = 1'000'000;
  friend bool operator==(const Consolidation&, const Consolidation&) = default;
};

struct Policy {
  enum class Kind : std::uint8_t {
    per_pod,  ///< buys for single pods that fit on no node, without knowledge of gangs or domains
    group,    ///< buys for whole gangs from their shortfalls: all nodes in one domain, or none; needs a placement
              ///< that states shortfalls, so it buys nothing with first_fit
  };
  Kind kind = Kind::group;
  Duration scan_interval{};  ///< time between two decisions on launches; 0: launches at every decision
  Duration batch_idle{};     ///< per_pod: a batch closes when no new pod appeared for this long (Karpenter: 1 s)
  Duration batch_max{};      ///< per_pod: a batch closes this long after its first pod (Karpenter: 10 s)
  Duration hold = std::chrono::minutes(10);    ///< group: an incomplete group is released after this time
  Duration backoff = std::chrono::minutes(3);  ///< wait after an offering's first failure; doubles with each failure
  Duration backoff_max = std::chrono::minutes(30);
  Duration ask_timeout = std::chrono::minutes(1);  ///< an action without effect after this time counts as lost
  std::int64_t min_nodes = 0;                      ///< minimum nodes of each pool: bought at once, never given back
  Consolidation consolidation;
  PassesOff off{};  ///< passes that are switched off, of pass_names()
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// Returns the names of the policy's passes in their order. docs/design/passes.md describes them.
std::vector<std::string_view> pass_names(Policy::Kind kind);

/// Returns the defaults of Cluster Autoscaler: a scan every 10 s and a backoff of 5 to 30 min. A node with less than
/// 50 % of its GPUs in use is given back after 10 min if its pods fit elsewhere.
Policy cluster_autoscaler();
/// Returns the defaults of Karpenter: batches that close after 1 s without a new pod or after 10 s, a backoff of 3 min,
/// and the consolidation WhenEmptyOrUnderutilized after 0 s, which ends running replicas.
Policy karpenter();
/// Returns the defaults of Capstan: whole groups, WhenEmpty after 1 h.
Policy whole_groups();

/// The state kept from one decision to the next. Its size is bounded by the nodes, claims and pools that exist.
struct Memory {
  /// A launch whose claims are not all in the snapshot yet.
  struct PendingLaunch {
    model::PoolId pool;
    model::OfferingId offering;
    model::DomainId domain;
    model::GangId gang;
    model::ClaimGroupId group;  ///< group of its claims; none until the first of them was seen
    std::int64_t count = 0;     ///< claims that were not seen yet
    Duration hold{};
    Instant at;
    friend bool operator==(const PendingLaunch&, const PendingLaunch&) = default;
  };
  /// A group that is not complete yet, or that is being released.
  struct Group {
    model::ClaimGroupId id;
    model::OfferingId offering;
    std::int64_t count = 0;              ///< claims of the complete group
    std::vector<model::ClaimId> claims;  ///< claims seen so far
    Instant requested_at;
    Instant until;
    Instant released_at = Instant::never();
    friend bool operator==(const Group&, const Group&) = default;
  };
  /// An offering of which a launch failed. It is not bought again before `until`.
  struct Backoff {
    model::OfferingId offering;
    std::int64_t failures = 0;
    Instant failed_at;
    Instant until;
    friend bool operator==(const Backoff&, const Backoff&) = default;
  };
  /// The time since which a node has had the same pods.
  struct StablePods {
    model::NodeId node;
    std::int64_t pods_hash = 0;
    Instant since;
    friend bool operator==(const StablePods&, const StablePods&) = default;
  };
  /// A node that is terminated once its cheaper replacement is ready.
  struct Replacement {
    model::NodeId node;
    model::PoolId pool;
    model::OfferingId offering;
    model::NodeId newest_node;  ///< newest node at the time of the decision; the replacement has a higher id
    Instant at;
    friend bool operator==(const Replacement&, const Replacement&) = default;
  };
  /// A node that was told to terminate and that the snapshot does not yet show as terminating.
  struct PendingTermination {
    model::NodeId node;
    Instant at;
    friend bool operator==(const PendingTermination&, const PendingTermination&) = default;
  };
  Instant last_scan = Instant::never();
  Instant last_consolidation = Instant::never();
  Instant batch_first = Instant::never();  ///< time of the first pod of the open batch
  Instant batch_last = Instant::never();   ///< time of the last pod of the open batch
  model::PodId newest_pod;                 ///< highest id of a pod in the open batch, or else in the last batch
  model::ClaimId newest_claim;             ///< highest id of a claim seen so far
  std::vector<model::ClaimId> failed;      ///< failed claims already counted and still in the snapshot
  std::vector<PendingLaunch> pending_launches;
  std::vector<Group> groups;
  std::vector<Backoff> backoffs;
  std::vector<StablePods> stable_pods;  ///< times since which nodes have had the same pods, ascending by node
  std::vector<Replacement> replacements;
  std::vector<PendingTermination> terminating;
  friend bool operator==(const Memory&, const Memory&) = default;
};
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);
/// Removes a launch that did not happen from memory.
void forget(Memory& memory, const model::LaunchNodes& launch);
/// Removes a refused launch from memory and puts its offering into backoff.
void refused(Memory& memory, const model::LaunchNodes& launch, const Policy& policy, Instant now);
/// Removes a refused termination from memory, so that it can be tried again.
void refused(Memory& memory, const model::TerminateNode& terminate);
/// Returns the nodes and groups of claims that are being given back.
place::LeavingNodes leaving(const Memory& memory);
/// Restarts the timeout of nodes whose termination is still in flight, so that the terminations do not count as lost.
/// @param nodes  sorted
void keep_terminating(Memory& memory, std::span<const model::NodeId> nodes, Instant now);

/// The output of decide().
struct Decision {
  GpuCount short_gpus = 0;     ///< GPUs that waiting pods or gangs lack, rounded up
  GpuCount expected_gpus = 0;  ///< GPUs on their way: claims in transit and launches without claims yet
  GpuCount launched_gpus = 0;  ///< GPUs that this plan buys
  model::Plan plan;            ///< LaunchNodes, ReleaseGroup, TerminateNode; reasons for what stays unchanged
  /// The purchases that were considered, at most kMaxComparisons; empty without Detail::candidates.
  std::vector<OfferComparison> offer_comparisons{};
};

/// Decides which nodes are bought and which are given back.
///
/// No launch raises a pool's GPUs, including GPUs on their way, above its limit. `per_pod` packs the pods that fit on
/// no node and no claim into bins by GPU count, and buys the cheapest offering that holds each bin. `group` buys all
/// nodes that a shortfall lacks in one domain. It releases all of them if they are not complete within `hold`. The next
/// decision then takes the next best offering, because the offering that failed is in backoff.
///
/// Consolidation `when_empty` terminates only nodes without pods. `when_empty_or_underutilized` is Karpenter's default.
/// It also terminates a node whose pods would fit on other nodes or on one cheaper node, even if replicas run on it.
///
/// @param index   index of the snapshot; unchanged on return
/// @param placed  the placement decision for the same snapshot: its shortfalls are the demand of `group`, and the nodes
///                that it nominated are not given back
Decision decide(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, const Policy& policy,
                Memory& memory, Instant now, Options options = {});

}  // namespace capstan::decide::provision
