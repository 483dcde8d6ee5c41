#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"
#include "decide/index.h"
#include "decide/place/place.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::decide::provision {

/// When nodes are given back.
struct Consolidation {
  model::ConsolidationPolicy policy = model::ConsolidationPolicy::when_empty;
  bool enabled = true;
  Duration after = std::chrono::hours(1);    ///< since the last pod came or went on the node
  Duration poll = std::chrono::seconds(10);  ///< Karpenter looks this often
  std::int64_t budget_percent = 10;          ///< of a pool's nodes may be going at once, rounded up
  /// Underutilized only: a node whose GPUs are used to this share or more is left alone. 1'000'000 looks at every
  /// node, as Karpenter does; Cluster Autoscaler uses 500'000.
  std::int64_t use_below_ppm = 1'000'000;
  friend bool operator==(const Consolidation&, const Consolidation&) = default;
};

struct Policy {
  enum class Kind : std::uint8_t {
    per_pod,  ///< capacity for every pod that fits nowhere, pod by pod, without knowledge of gangs or domains
    group,    ///< capacity for whole gangs from their shortfalls: all nodes in one domain, or none; needs a placement
              ///< that states shortfalls, and buys nothing under first_fit, which states none
  };
  Kind kind = Kind::group;
  Duration scan_interval{};  ///< launches are only decided this long after the last look; 0 = at every decision
  Duration batch_idle{};     ///< per_pod: wait until no new pod has come for this long (Karpenter: 1 s) ...
  Duration batch_max{};      ///< ... but no longer than this after the first (Karpenter: 10 s)
  Duration hold = std::chrono::minutes(10);    ///< group: what is not whole by then is released whole
  Duration backoff = std::chrono::minutes(3);  ///< an offering that was refused is not tried for this long, then twice
  Duration backoff_max = std::chrono::minutes(30);
  Duration ask_timeout = std::chrono::minutes(1);  ///< a launch or an end that left no trace by then was not heard
  std::int64_t min_nodes = 0;                      ///< of each pool: bought at once, never given back
  Consolidation consolidation;
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// Cluster Autoscaler as shipped: looks every 10 s, backs off 5 to 30 min, gives back nodes used under 50 % after 10
/// min.
Policy cluster_autoscaler();
/// Karpenter as shipped: batches 1 s idle / 10 s max, forgets a refused offering after 3 min, and consolidates
/// WhenEmptyOrUnderutilized after 0 s, which ends running replicas.
Policy karpenter();
/// Capstan: whole groups, WhenEmpty after 1 h.
Policy whole_groups();

/// What earlier decisions leave behind. Bounded by the nodes, claims and pools that exist.
struct Memory {
  /// A launch whose claims no snapshot shows yet.
  struct Asked {
    model::PoolId pool;
    model::OfferingId offering;
    model::DomainId within;
    model::GangId gang;
    model::ClaimGroupId group;  ///< once some of its claims were seen; they come under one
    std::int64_t count = 0;     ///< claims still to be seen
    Duration hold{};
    Instant at;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  /// A group that is not whole yet, or that is being released.
  struct Group {
    model::ClaimGroupId id;
    model::OfferingId offering;
    std::int64_t count = 0;              ///< claims it consists of
    std::vector<model::ClaimId> claims;  ///< those that were seen
    Instant requested_at;
    Instant until;
    Instant released_at = Instant::never();
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Backoff {
    model::OfferingId offering;
    std::int64_t failures = 0;
    Instant failed_at;
    Instant until;
    friend bool operator==(const Backoff&, const Backoff&) = default;
  };
  /// Since when the same pods have been on a node.
  struct Quiet {
    model::NodeId node;
    std::int64_t pods_hash = 0;
    Instant since;
    friend bool operator==(const Quiet&, const Quiet&) = default;
  };
  /// A node that goes once its cheaper replacement has registered.
  struct Replacing {
    model::NodeId node;
    model::PoolId pool;
    model::OfferingId offering;
    model::NodeId newest_node;  ///< when it was decided; the replacement has a higher id
    Instant at;
    friend bool operator==(const Replacing&, const Replacing&) = default;
  };
  /// A node that was told to go and that the snapshot still shows otherwise.
  struct Terminating {
    model::NodeId node;
    Instant at;
    friend bool operator==(const Terminating&, const Terminating&) = default;
  };
  Instant last_scan = Instant::never();
  Instant last_consolidation = Instant::never();
  Instant batch_first = Instant::never();  ///< when the batch that waits began
  Instant batch_last = Instant::never();   ///< when a new pod last came to it
  model::PodId newest_pod;                 ///< highest id that was in a batch
  model::ClaimId newest_claim;             ///< highest id that was seen
  std::vector<model::ClaimId> failed;      ///< failed claims already counted, while the snapshot still shows them
  std::vector<Asked> asked;
  std::vector<Group> groups;
  std::vector<Backoff> backoffs;
  std::vector<Quiet> quiet;  ///< by node
  std::vector<Replacing> replacing;
  std::vector<Terminating> terminating;
  friend bool operator==(const Memory&, const Memory&) = default;
};
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);
/// Is the claim a node that is to come, and that the snapshot does not show yet?
bool in_transit(const model::Claim& claim, const model::Snapshot& snapshot);
/// A launch that did not happen is not counted any more.
void forget(Memory& memory, const model::LaunchNodes& launch);
/// The world refused a launch: besides, its offering backs off.
void refused(Memory& memory, const model::LaunchNodes& launch, const Policy& policy, Instant now);
/// The world refused to end a node: it may be tried again.
void refused(Memory& memory, const model::TerminateNode& terminate);
/// Returns the nodes that are being given back and that the snapshot may still show as ready, sorted.
std::vector<model::NodeId> leaving_nodes(const Memory& memory);
/// Keeps these nodes from being forgotten as not heard: the actions that end them are in flight.
/// @param nodes  sorted
void keep_terminating(Memory& memory, std::span<const model::NodeId> nodes, Instant now);

struct Decision {
  GpuCount short_gpus = 0;     ///< GPUs that waiting pods or gangs lack, rounded up
  GpuCount coming_gpus = 0;    ///< GPUs on their way: claims in transit and launches not seen yet
  GpuCount launched_gpus = 0;  ///< GPUs that this plan buys
  model::Plan plan;            ///< LaunchNodes, ReleaseGroup, TerminateNode; kept reasons
};

/// Which nodes come and go.
///
/// No launch raises a pool's GPUs, those on their way counted, above its limit. `per_pod` packs pods that fit no node
/// and no claim by GPU count and buys the cheapest offering that holds each bin. `group` buys, for one shortfall, all
/// missing nodes in one domain, and gives them all back when they are not whole within `hold`; the group then goes to
/// the next best offering, because the refused one backs off.
///
/// Consolidation `when_empty` ends nodes without pods only. `when_empty_or_underutilized` is Karpenter's default: it
/// also ends a node whose pods would fit elsewhere or on one cheaper node, whatever runs on it and whatever gang that
/// belongs to.
///
/// @param index   of the snapshot; decisions are tried out on it, and it comes out as it went in
/// @param placed  the decision of the layer above for the same snapshot: its shortfalls are `group`'s demand, the
///                nodes it nominated are not given back
Decision decide(Index& index, const model::Snapshot& snapshot, const place::Decision& placed, const Policy& policy,
                Memory& memory, Instant now);

}  // namespace capstan::decide::provision
