#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/cluster/component.h"

namespace capstan::sim {

/// The part that carries out actions.
class ActionExecutor {
 public:
  virtual ~ActionExecutor() = default;
  /// Carries out an action now. Returns the reason if it is refused.
  virtual std::optional<model::Reason> perform(const model::Action& action) = 0;
};

/// The actions between their submission and their outcome. An action takes effect after some time. By chance, it may be
/// refused, or its outcome may stay unknown to the controller.
class ActionQueue : Component {
 public:
  ActionQueue(Basics& basics, std::uint64_t seed, ActionExecutor& executor)
      : Component(basics), executor_(executor), draws_(seed, "cluster.action") {}

  /// @param basis  gangs on which the decision is based; the action is refused if one of them ends before it
  ///               takes effect
  model::ActionToken submit(const model::Action& action, std::vector<model::GangId> basis);
  /// Returns the outcomes since the last call.
  std::vector<ports::Outcome> take_outcomes() { return std::exchange(outcomes_, {}); }
  /// Returns the nodes whose termination was submitted and has not taken effect yet.
  std::set<model::NodeId> ending_nodes() const;

  // Events.
  void take_effect(model::ActionToken token);
  void report_unknown(model::ActionToken token);

  void add_draws(StateHash& hash) const { add_draw(hash, draws_); }

 private:
  /// Returns the service or the class of jobs that an action concerns, as in `ClusterMeter::by_user`; none for an
  /// action about nodes, or about an object that is gone.
  std::optional<std::size_t> user_of(const model::Action& action) const;

  struct WaitingAction {
    model::Action action;
    bool is_known = true;  ///< the controller will learn the outcome
    bool takes_effect = true;
    std::vector<model::GangId> basis{};
  };

  ActionExecutor& executor_;
  RandomStream draws_;
  std::map<model::ActionToken, WaitingAction> waiting_;
  std::vector<ports::Outcome> outcomes_;
  std::uint32_t next_action_ = 0;
};

}  // namespace capstan::sim
