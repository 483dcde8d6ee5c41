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

/// A service's target, and its replicas that are not on their way out of existence.
struct Target {
  struct Replica {
    model::GangId gang;
    std::string name;
    std::optional<std::uint32_t> ordinal;
    Ref pod;  ///< the one that serves
    bool ready = false;
    bool ever_served = true;           ///< false: it was never in the router and holds no work
    std::optional<Instant> out_since;  ///< taken out of the router by Capstan
  };
  Ref ref;
  std::string kind;
  DrainMeans means;
  std::optional<Duration> drain_limit;  ///< as the workload says
  std::uint32_t first_ordinal = 0;
  std::vector<Replica> replicas;
};

/// What the ids of the last snapshot stand for in the cluster. Nothing, or empty, for what is not known any more.
class References {
 public:
  virtual ~References() = default;
  virtual std::optional<Target> target(model::ServiceId service, model::VariantId variant) const = 0;
  virtual std::optional<Ref> pod(model::PodId pod) const = 0;
  virtual std::optional<Binding> binding(const model::BindPods::Binding& binding) const = 0;
  /// Pool, pick and requests of the nodes; `Effects` gives the group its name, count and hold.
  virtual std::optional<ClaimGroup> nodes(const model::LaunchNodes& launch) const = 0;
  virtual std::vector<Ref> claims(model::ClaimGroupId group) const = 0;
  virtual std::optional<Ref> claim(model::NodeId node) const = 0;
};

/// Actions as effects: each is put into references and handed to the runner.
class Effects {
 public:
  /// How long a pod that was drained and scaled away may still be seen, before it counts as left behind.
  static constexpr Duration kLeaving = std::chrono::seconds(60);

  /// @param references  outlives it
  /// @param holder      of the Lease, with how often it has changed hands: what makes names ours alone
  Effects(Runner& runner, const References& references, net::Clock clock, kube::WallClock wall, std::string holder);

  /// Begins; a refusal is an outcome.
  void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen);

  /// What pods hold now, for those that drain; by uid, silent where absent.
  void feed(const std::map<std::string, ScaleGoal::Load>& loads);

  /// Calls off what is done to other targets than these, by uid: they are nobody's to scale any more.
  void only(const std::set<std::string>& targets);

  /// A pod with a way in and out of the router.
  struct Routed {
    Ref pod;
    DrainMeans means;
    bool out = false;      ///< Capstan has taken it out
    bool decided = false;  ///< it is in or out; false: its gate has never been set
  };
  /// Lets new pods into the router, and puts back those that nobody drains any more.
  void keep_serving(std::span<const Routed> pods);

  /// Takes the hold off claims and nodes whose gang is there.
  void let_go(std::span<const Ref> held);

  /// Ends bind transactions that a predecessor has left.
  void resume(std::span<const kube::Pod* const> pods);

 private:
  void set_replicas(model::ActionToken token, const model::SetReplicas& set, const model::Snapshot& seen);
  void bind(model::ActionToken token, const model::BindPods& bind);
  void launch(model::ActionToken token, const model::LaunchNodes& launch);
  void give_back(model::ActionToken token, const std::string& key, const std::vector<Ref>& claims);
  std::string name_of(model::ActionToken token) const;
  std::set<std::string> victims() const;
  void count_lost(std::span<const Routed> pods);

  Runner& runner_;
  const References& references_;
  net::Clock clock_;
  kube::WallClock wall_;
  std::string holder_;
  std::map<std::string, std::weak_ptr<ScaleGoal>> goals_;  // by key
  std::map<std::string, Instant> leaving_;                 // by uid: victims, until when
  std::optional<Instant> first_look_;
};

}  // namespace capstan::actuate
