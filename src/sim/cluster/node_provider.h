#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>
#include "base/known_row.h"

#include "sim/cluster/component.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The functions by which a provider tells the other parts about its nodes.
class NodeListener {
 public:
  virtual ~NodeListener() = default;
  virtual void node_added(model::NodeId node) = 0;
  /// Removes the pod from its node now. Afterwards, pods() of the node does not contain it.
  virtual void evict(model::PodId pod, Interruption why) = 0;
  /// Reports that the node has no pods and takes none any more. May be called twice for one node.
  virtual void node_stopped(model::NodeId node) = 0;
};

/// The cloud provider: buys nodes, boots them, interrupts spot nodes and takes nodes back. Knows which machines still
/// fit into the topology, and which pods hold the GPUs of each node.
class NodeProvider : Component {
 public:
  static constexpr std::int64_t kMaxLaunch = 1024;  ///< largest number of nodes of one LaunchNodes

  /// The times at which the node of a claim was bought and booted.
  struct ClaimTimes {
    Instant bought_at = Instant::never();  ///< the claim is paid for from this time until its node is ready
    Instant booted_at;
  };

  NodeProvider(Basics& basics, std::uint64_t seed, NodeListener& listener);

  /// Adds the nodes that exist at the start.
  void add_existing();

  std::optional<model::Reason> perform(const model::LaunchNodes& what);
  std::optional<model::Reason> perform(const model::ReleaseGroup& what);
  std::optional<model::Reason> perform(const model::TerminateNode& what);

  // Events.
  void claim_decided(model::ClaimId id);
  void node_booted(model::ClaimId id);
  void node_ready(model::ClaimId id);
  void node_gone(model::NodeId id);
  void spot_notice(model::NodeId id);
  void spot_kill(model::NodeId id);
  /// Ends all nodes of a zone at once, as a spot interruption does, and cancels the claims whose nodes boot there.
  void outage(model::DomainId zone);

  MilliGpu free(model::NodeId id) const { return rows().nodes.at(id).gpus - known_row(nodes_, id).allocated; }
  const std::vector<model::PodId>& pods(model::NodeId id) const { return known_row(nodes_, id).pods; }
  void add_pod(model::NodeId id, model::PodId pod, MilliGpu gpus);
  void remove_pod(model::NodeId id, model::PodId pod, MilliGpu gpus);
  const ClaimTimes& times(model::ClaimId id) const { return known_row(claims_, id).times; }

  /// Adds the GPU time of nodes and claims that is not in the shared account yet.
  void add_unaccounted(GpuAccount& account, Instant end) const;
  void check_invariants() const;
  void add_draws(StateHash& hash) const;

 private:
  struct Claim {
    model::DomainId place;  ///< NVLink domain, once bought
    ClaimTimes times;
    bool is_bought() const { return !times.bought_at.is_never(); }
  };
  struct Node {
    MilliGpu allocated;
    Instant free_counted_until;  ///< time up to which the account has the node's free GPU time
    Instant paid_since;
    model::DomainId place;
    std::vector<model::PodId> pods;
  };

  std::optional<model::DomainId> find_place(const model::Offering& offering, model::DomainId outer);
  /// @param node  row of the node with its offering, pool, claim and class; this function sets the other fields
  model::NodeId make_node(model::Node node, model::DomainId place);
  /// Takes the CPU and memory of a pod from its node, or gives them back.
  void change_available(model::NodeId id, model::PodId pod, bool takes);
  const model::Resources& requests_of(model::PodId pod) const;
  void cancel_claim(model::ClaimId id);
  void terminate(model::NodeId id, Interruption why);
  /// Returns the amounts of the pool's nodes, nodes on their way included.
  model::NodeAmounts in_use(model::PoolId pool) const;
  void account_free(model::NodeId id);
  void add_free(GpuAccount& account, model::NodeId id, Instant end) const;
  void add_launching(GpuAccount& account, model::ClaimId id, Instant end) const;

  NodeListener& listener_;
  RandomStream provider_draws_, capacity_draws_, spot_draws_;
  std::map<model::DomainId, model::DomainPath> paths_;  ///< domains of a node, by its NVLink domain
  std::map<model::ClaimId, Claim> claims_;
  std::map<model::NodeId, Node> nodes_;
  std::map<model::DomainId, std::int64_t> places_;  ///< machines that still fit, by NVLink domain
  std::map<model::OfferingId, Duration> expected_launch_;
  std::uint32_t next_node_ = 0, next_claim_ = 0, next_group_ = 0;
};

}  // namespace capstan::sim
