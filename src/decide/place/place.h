#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "base/time.h"
#include "decide/index.h"
#include "model/gang.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::decide::place {

struct Policy {
  enum class Kind : std::uint8_t {
    first_fit,  ///< pod by pod, oldest first, each onto the first node (by id) with room; knows no gangs
    gang,       ///< all pods of a gang at once inside one domain of its level, or none
  };
  Kind kind = Kind::gang;
  Duration period = std::chrono::seconds(1);  ///< how often it wants to be asked; it always answers
  /// How long a binding stays assumed after its action has ended, where no snapshot shows it; then it is decided again.
  Duration assume_for = std::chrono::seconds(30);
  /// How long a gang of which some pods have a node, and too few, waits for the others, as `gang`. KAI's
  /// default-staleness-grace-period: https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/batch/README.md
  Duration broken_for = std::chrono::seconds(60);
  friend bool operator==(const Policy&, const Policy&) = default;
};

/// "first_fit" or "gang".
std::string_view name(Policy::Kind kind);

/// Bounded by the pods that are unbound, and by the gangs that wait.
struct Memory {
  /// A binding that was decided and that no snapshot shows yet: what kube-scheduler calls an assumed pod.
  struct Assumed {
    model::PodId pod;
    model::NodeId node;
    model::GangId gang;
    MilliGpu gpus;
    Instant until;
    friend bool operator==(const Assumed&, const Assumed&) = default;
  };
  /// A gang of which some pods have a node, and too few.
  struct Broken {
    model::GangId gang;
    Instant since;  ///< or since it was given up last
    friend bool operator==(const Broken&, const Broken&) = default;
  };
  std::vector<Assumed> assumed;  ///< by pod
  std::vector<Broken> broken;    ///< by gang
  friend bool operator==(const Memory&, const Memory&) = default;
};
std::string to_text(const Memory& memory);
Result<Memory> parse_memory(std::string_view text);
/// The world refused to bind this gang: its pods are looked at again at the next decision.
void forget(Memory& memory, model::GangId gang);
/// Keeps the bindings of these gangs assumed until `until` at least: their actions are in flight, and a node that looks
/// empty meanwhile is not given back under them.
/// @param gangs  sorted
void keep_assumed(Memory& memory, std::span<const model::GangId> gangs, Instant until);

/// What would have to be free for a gang to be placed: a message to whoever provides nodes, not "Unschedulable".
/// A gang is named by (service, variant, ordinal), because it may be planned and have no pods yet.
struct Shortfall {
  model::GangId gang;  ///< none while it is only planned
  model::ServiceId service;
  model::VariantId variant;
  std::uint32_t ordinal = 0;
  model::GpuKindId gpu;
  model::TopologyLevel level = model::TopologyLevel::node;
  std::int64_t pods = 0;  ///< that still need a node
  MilliGpu gpus_per_pod;
  MilliGpu needed;              ///< pods x gpus_per_pod
  MilliGpu short_by;            ///< what the best domain lacks, in pods that do not fit there x gpus_per_pod
  model::DomainId best_domain;  ///< fits the most pods; none at level `node`, or where there is no domain yet
  model::NodeId best_node;      ///< at level `node`
  MilliGpu best_free;           ///< free in the best domain or node
  bool bound_to_best = false;   ///< some pods of the gang already run there: no other domain will do
  model::PodClassId pod_class;  ///< of its pods
  /// Purchases in domains that have their share of the replicas of the service; ascending.
  std::vector<model::Purchase> avoided_purchases;
  model::DomainId rather;  ///< of what costs as much, what is bought in this zone; none: any
  bool apart = false;      ///< room that is free beside others of its service is not for it
  friend bool operator==(const Shortfall&, const Shortfall&) = default;

  /// Returns true if nodes of the purchase could run the pods.
  bool may_use(const model::Catalog& catalog, const model::Purchase& purchase) const {
    return catalog.eligibility.admits(pod_class, purchase) && !std::ranges::binary_search(avoided_purchases, purchase);
  }
};

/// What is to become of one pending gang.
struct PlacementResult {
  enum class Kind : std::uint8_t {
    placed,          ///< the plan binds it now
    assumed,         ///< bound earlier, the world has not confirmed yet
    cannot_fit_now,  ///< see the shortfall of the same gang
    held_by_queue,   ///< its queue may not hold so much
    never_fits,      ///< larger than any domain that exists or can be bought
  };
  model::GangId gang;  ///< none for a planned gang
  Kind kind = Kind::cannot_fit_now;
  model::Reason why;
};

struct Decision {
  std::vector<PlacementResult> verdicts;  ///< one for every pending gang, oldest first
  std::vector<Shortfall> shortfalls;      ///< `gang` only; pending gangs oldest first, then planned ones
  std::set<model::NodeId> nominated;      ///< nodes that assumed or planned pods are meant for
  model::Plan plan;                       ///< BindPods, EvictPod; kept reasons of the rest
};

/// Where pending pods go.
///
/// `first_fit` is what a scheduler without gangs does, and its trap is kept: two gangs of four on seven free GPUs take
/// some each, and both hold GPUs and wait. `gang` never binds a part. It takes the fullest domain that fits, fills
/// nodes that are already in use first, and keeps untouched nodes whole; ties go to the lower id. A gang that cannot
/// fit does not block younger ones, nor does one that its queue holds: for that one nothing is bought. What a broken
/// gang still holds is evicted after `broken_for`, so that its workload makes it anew. The aggregate of free GPUs per
/// domain refuses hopeless gangs without a search.
///
/// @param index    of the snapshot; decisions are tried out on it, and it comes out as it went in
/// @param planned  replicas decided whose pods do not exist yet; they take room after every real gang, bind nothing,
///                 and can only leave shortfalls
/// @param leaving  nodes that are being given back (`provision::leaving_nodes`): no pod is placed there, as Karpenter
///                 taints a node before it ends it
Decision decide(Index& index, const model::Snapshot& snapshot, std::span<const model::PlannedGang> planned,
                const Policy& policy, Memory& memory, Instant now, std::span<const model::NodeId> leaving = {});

}  // namespace capstan::decide::place
