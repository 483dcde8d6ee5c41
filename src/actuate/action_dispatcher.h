#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actuate/bind_intent.h"
#include "actuate/node_claim.h"
#include "actuate/runner.h"
#include "actuate/scale_to.h"
#include "actuate/victims.h"
#include "model/plan.h"
#include "model/snapshot.h"

namespace capstan::actuate {

/// The scale target of a service, with its replicas that are not terminating.
struct Target {
  struct Replica {
    model::GangId gang;
    std::string name;
    std::optional<std::uint32_t> ordinal;
    Ref pod;  ///< serving pod of the replica
    bool ready = false;
    bool ever_served = true;                     ///< false: the replica was never in the router, so it has no requests
    std::optional<Instant> out_of_router_since;  ///< time at which Capstan took the replica out of the router
  };
  Ref ref;
  std::string kind;
  DrainMeans means;
  std::optional<Duration> drain_limit;  ///< drain limit that the workload sets
  std::uint32_t first_ordinal = 0;
  std::vector<Replica> replicas;
};

/// Maps the ids of the last snapshot to objects of the cluster. The result is empty if the object is no longer known.
class References {
 public:
  virtual ~References() = default;
  virtual std::optional<Target> target(model::ServiceId service) const = 0;
  virtual std::optional<Ref> pod(model::PodId pod) const = 0;
  virtual std::optional<Binding> binding(const model::BindPods::Binding& binding) const = 0;
  /// Returns the group with its pool, the labels that its nodes must have, and the requests per node.
  /// `ActionDispatcher` sets the name, the number of claims and the hold.
  virtual std::optional<ClaimGroup> nodes(const model::LaunchNodes& launch) const = 0;
  virtual std::vector<Ref> claims(model::ClaimGroupId group) const = 0;
  virtual std::optional<Ref> claim(model::NodeId node) const = 0;
};

/// Turns actions into effects and submits them to the runner.
class ActionDispatcher {
 public:
  /// Time that a drained and removed pod may still be visible before it counts as abandoned.
  static constexpr Duration kRemovedPodVisibleMax = std::chrono::seconds(60);

  /// @param references  outlives this object
  /// @param holder      holder of the Lease and number of its transitions, which make names unique
  ActionDispatcher(Runner& runner, const References& references, net::Clock clock, kube::WallClock wall,
                   std::string holder);

  /// Starts an action. A refusal is reported as an outcome.
  void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& snapshot);

  /// Updates the numbers of requests of draining pods, by UID. A pod that is absent from `loads` reports nothing.
  void update_loads(const std::map<std::string, ScaleGoal::Load>& loads);

  /// Cancels the scaling of every target whose UID is not in `targets`, because it is no longer managed.
  void cancel_except(const std::set<std::string>& targets);

  /// A pod that can be put into the router and taken out of it.
  struct RoutedPod {
    Ref pod;
    DrainMeans means;
    bool is_out = false;    ///< Capstan has taken the pod out of the router
    bool has_gate = false;  ///< the pod's gate was set before, to True or to False
  };
  /// Puts new pods into the router, and puts back pods whose drain was abandoned.
  void update_routing(std::span<const RoutedPod> pods);

  /// Removes the hold, which protects claims and nodes from disruption until their gang runs.
  /// @param held  claims and nodes whose gang runs
  void release_holds(std::span<const Ref> held);

  /// Finishes bind transactions of an earlier leader.
  void resume_binds(std::span<const kube::Pod* const> pods);

 private:
  void set_replicas(model::ActionToken token, const model::SetReplicas& set, const model::Snapshot& snapshot);
  void bind(model::ActionToken token, const model::BindPods& bind);
  void launch(model::ActionToken token, const model::LaunchNodes& launch);
  void delete_claims(model::ActionToken token, const std::string& key, const std::vector<Ref>& claims);
  std::string name_of(model::ActionToken token) const;
  std::set<std::string> victims() const;
  void update_lost(std::span<const RoutedPod> pods);

  Runner& runner_;
  const References& references_;
  net::Clock clock_;
  kube::WallClock wall_;
  std::string holder_;
  std::map<std::string, std::weak_ptr<ScaleGoal>> goals_;  // goals by key of their effect
  std::map<std::string, Instant> leaving_;  // victims by UID, with the time until which they may be visible
  std::optional<Instant> first_pass_;
};

}  // namespace capstan::actuate
