#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/known_row.h"
#include "base/time.h"
#include "control/action_log.h"
#include "control/action_outcome.h"
#include "control/decider.h"
#include "control/guards.h"
#include "control/in_flight.h"
#include "control/slo_watch.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "fleet/index.h"
#include "model/gang.h"
#include "ports/world.h"

namespace capstan::control {

/// One policy for each layer, as named by a scenario's `policies:`. Each service has its own scale policy. A layer
/// without a policy belongs to another component: another scheduler binds the pods, or another autoscaler buys the
/// nodes.
struct Policies {
  std::string name;
  std::vector<decide::scale::Policy> scale;  ///< policies by service
  /// Policy that binds pods; empty: another scheduler binds them.
  std::optional<decide::place::Policy> place;
  std::optional<decide::provision::Policy> provision;  ///< requires `place`, whose shortfalls it resolves
  std::optional<SloBreachRule> slo_breach{};           ///< rule for every service; empty: breaches are not watched
  /// By service: time up to which SLO breaches are acknowledged; a missing entry acknowledges none.
  std::vector<Instant> acknowledged{};
};

/// The replica count that an action on its way asks for.
struct RequestedReplicas {
  model::ServiceId service;
  ReplicaCount replicas = 0;
  friend bool operator==(const RequestedReplicas&, const RequestedReplicas&) = default;
};

/// Everything that the loop remembers between two ticks and that affects a decision. Its size is bounded. A saved
/// snapshot with this memory replays the decision byte for byte.
struct Memory {
  std::vector<decide::scale::Memory> scale;  ///< memories by service
  decide::place::Memory place;
  decide::provision::Memory provision;
  std::vector<model::PlannedGang> planned;
  std::vector<SloMemory> slo{};  ///< SLO states by service; a breach changes `scale` and the settings in force
  /// Counts of the actions on their way, ascending by service. A decision about replicas starts from them.
  std::vector<RequestedReplicas> requested{};
};

/// The decisions that are due at a tick.
struct DueDecisions {
  /// Services whose replicas are decided, ascending; no value: all of them.
  std::optional<std::vector<model::ServiceId>> services{};
  bool placement = true;  ///< true: pods and nodes are decided
  friend bool operator==(const DueDecisions&, const DueDecisions&) = default;

  bool has(model::ServiceId service) const { return !services || std::ranges::binary_search(*services, service); }
};

/// Sets the counts of the service and its alternatives to the counts that actions on their way ask for. Otherwise a
/// decision to change nothing would cancel a scale-down whose replicas drain.
void start_from_requested(const std::vector<RequestedReplicas>& requested, decide::scale::WorkloadView& role);

/// A function that is called with the snapshot and the memory from which the layers decide, and with the decisions that
/// are due.
using InputObserver = std::function<void(const model::Snapshot&, const Memory&, const DueDecisions&)>;

/// Optional parts of a controller.
struct Options {
  /// Is called before the decision at each tick that decides replicas. At any other tick it is called after the
  /// decision, and only if pods or nodes get an action.
  InputObserver input_observer{};
  std::unique_ptr<Decider> decider{};  ///< the component that decides; null: the policies of `decide`
  OutcomeObserver outcome_observer{};  ///< sees the end of every action; may be empty
};

struct Stats {
  std::int64_t ticks = 0;
  std::int64_t actions = 0;
  std::int64_t refused = 0;
  std::int64_t unknown = 0;
  std::int64_t reversals = 0;  ///< changes of direction of the desired replicas within kReversalWindow
  Violations violations;
};

/// The control loop: observe, scale, place, provision, submit. It uses only ports::World, so that the same code runs in
/// the simulator and against a cluster. It never waits, and it takes the time from the world. Its decider makes the
/// decisions. The loop reconciles the decisions about prefill and decode, and removes actions that would exceed a
/// limit.
class Controller {
 public:
  static constexpr Duration kReversalWindow = std::chrono::minutes(15);
  static constexpr Duration kIdlePeriod = std::chrono::seconds(15);  ///< longest time between two ticks

  /// `world` must outlive the controller. The first tick is due immediately.
  Controller(Policies policies, ports::World& world, Options options = {});

  Instant next_tick() const { return next_tick_; }
  /// Runs the loop once at world.now(). A tick before `next_tick()` scales only new services.
  void tick();

  /// Replaces the policies from the next tick on, after services or their settings changed. The memory stays.
  void set_policies(Policies policies);
  /// Returns the policies of the next tick: the current ones, with the settings that a roll-back restored.
  Policies in_force() const;
  /// Continues from a predecessor's memory. Call it before the first tick.
  void restore(Memory memory);

  const Stats& stats() const { return stats_; }
  const Memory& memory() const { return memory_; }
  const ActionLog& log() const { return log_; }
  /// Return the last decisions about pods and about nodes; empty before the first one and without a policy for the
  /// layer.
  const decide::place::Decision& place_decision() const { return placed_; }
  const decide::provision::Decision& provision_decision() const { return provisioned_; }
  /// Returns the last scale decision about the service, without its plan. Before the first one, its reason is
  /// `nothing_to_do`.
  const decide::scale::Decision& scale_decision(model::ServiceId service) const {
    return known_row(scale_decisions_, service.value);
  }

 private:
  void process_outcomes(const std::vector<ports::Outcome>& outcomes, Instant now);
  void update_state(const ports::Observation& seen);
  std::vector<model::ServiceId> due_services(const model::Snapshot& snapshot, Instant now);
  Instant next_scale(const model::Snapshot& snapshot, Instant now) const;
  void update_slos(const model::Snapshot& snapshot, const std::vector<model::ServiceId>& due, Instant now);
  void scale(const ports::Observation& seen, const std::vector<model::ServiceId>& due, Instant now);
  void place_and_provision(const ports::Observation& seen, bool is_shown, Instant now);
  DueDecisions due_at(const model::Snapshot& snapshot, const std::vector<model::ServiceId>& services,
                      Instant now) const;
  std::vector<model::ServiceId> decidable(const model::Snapshot& snapshot,
                                          const std::vector<model::ServiceId>& due) const;
  std::vector<model::ServiceId> deciders_of(const model::Snapshot& snapshot) const;
  const decide::scale::Policy& policy_of(model::ServiceId service) const;
  void submit(model::Plan plan, LoggedAction::Layer layer, const model::Snapshot& snapshot, Instant now);
  void withhold(const model::Action& action, Instant decided_at);
  void show_withheld();
  void forget(const model::Action& action);
  std::optional<decide::scale::WorkloadView> view_of(const model::Snapshot& snapshot,
                                                     const decide::scale::MixSource& mixes, model::ServiceId service,
                                                     Instant now) const;
  void submit_decision(decide::scale::Decision decision, const model::Snapshot& snapshot, Instant now);
  void count_reversals(const model::Plan& plan, const model::Snapshot& snapshot, Instant now);
  void count_reversal(model::ServiceId service, int sign, Instant now);
  bool is_scaling(model::ServiceId service, const model::Snapshot& snapshot) const;
  void remove_further_scale_downs(model::Plan& plan) const;

  Policies policies_;
  ports::World& world_;
  InputObserver input_observer_;
  OutcomeObserver outcome_observer_;
  struct WithheldAction {
    Instant decided_at;
    model::Action action;
  };
  // Withheld actions of this tick. They are kept until the observer has seen the inputs of their decision.
  std::vector<WithheldAction> withheld_;
  std::unique_ptr<Decider> decider_;
  Memory memory_;
  InFlight in_flight_;
  fleet::Index index_;
  bool indexed_ = false;
  Instant next_tick_{};
  std::vector<Instant> next_scale_;  // times of the next decision by service
  Instant next_place_{};             // time of the next placement; never without a placement policy
  ActionLog log_;
  Stats stats_;
  struct Direction {
    int sign = 0;
    Instant at;
  };
  std::vector<Direction> last_direction_;                 // last changes by service
  std::vector<decide::scale::Decision> scale_decisions_;  // last decisions by service, without their plans
  decide::place::Decision placed_;  // last decision; its actions were moved out, its reasons for inaction remain
  decide::provision::Decision provisioned_;
};

}  // namespace capstan::control
