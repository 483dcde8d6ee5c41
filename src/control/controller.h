#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "control/decision_log.h"
#include "control/guards.h"
#include "control/in_flight.h"
#include "control/slo_watch.h"
#include "decide/index.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "model/gang.h"
#include "ports/world.h"

namespace capstan::control {

/// One policy for each layer: what a scenario's `policies:` names. Replicas are decided service by service, each with a
/// policy of its own. A layer without one is somebody else's: who binds the pods, who buys the nodes.
struct Policies {
  std::string name;
  std::vector<decide::scale::Policy> scale;  ///< by service
  std::optional<decide::place::Policy> place;
  std::optional<decide::provision::Policy> provision;  ///< only with a placement, whose shortfalls it answers
  std::optional<SloBreachRule> slo_breach{};           ///< of every service
  std::vector<Instant> acknowledged{};                 ///< by service: until when breaches are; none beyond the end
};

/// Everything the loop remembers between two ticks that a decision depends on. Bounded; saved with a snapshot, it
/// replays the decision byte for byte.
struct Memory {
  std::vector<decide::scale::Memory> scale;  ///< by service
  decide::place::Memory place;
  decide::provision::Memory provision;
  std::vector<model::PlannedGang> planned;
  std::vector<SloMemory> slo{};  ///< by service; what follows from it is in `scale` and in the policies in force
};

/// Is shown what the layers are about to decide from: the snapshot and the memory before it.
using Witness = std::function<void(const model::Snapshot&, const Memory&)>;

/// Somebody else's autoscaler: the replicas that it wants of a service, asked in place of a policy of ours whenever
/// replicas are due; nothing for a service that it leaves to the policy.
using Autoscaler = std::function<std::optional<ReplicaCount>(const model::Snapshot&, const decide::scale::RoleView&)>;

struct Options {
  bool verify_replay = false;  ///< decide twice, the second time from memory that went through its text: invariant 5
  Witness witness{};           ///< called at every tick at which replicas are decided
  Autoscaler autoscaler{};     ///< empty: the policies decide; where it answers, `Fixed` takes the answer over
};

struct Stats {
  std::int64_t ticks = 0;
  std::int64_t actions = 0;
  std::int64_t refused = 0;
  std::int64_t unknown = 0;
  std::int64_t reversals = 0;  ///< desired replicas changed direction within kReversalWindow
  Violations violations;
};

/// The loop: observe, scale, place, provision, submit. Written against ports::World only, so that the same code runs in
/// the simulator and against a cluster; it never waits, never reads a clock, and decides nothing itself.
class Controller {
 public:
  static constexpr Duration kReversalWindow = std::chrono::minutes(15);
  static constexpr Duration kIdlePeriod = std::chrono::seconds(15);  ///< the longest time between two looks

  /// `world` outlives the controller. The first tick is due at once.
  Controller(Policies policies, ports::World& world, Options options = {});

  Instant next_tick() const { return next_tick_; }
  /// One turn of the loop at world.now(). Before `next_tick` nothing is due, except about services that are new.
  void tick();

  /// Replaces the policies from the next tick on: services came or somebody edited them. Memory stays.
  void use(Policies policies);
  /// The policies by which the next tick decides: those in use, but where a roll-back has others in force.
  Policies in_force() const;
  /// Goes on from what a predecessor remembered. Before the first tick.
  void restore(Memory memory);

  const Stats& stats() const { return stats_; }
  const Memory& memory() const { return memory_; }
  const DecisionLog& log() const { return log_; }
  /// The last decisions of the layers below; empty before the first, and where the layer has no policy.
  const decide::place::Decision& placed() const { return placed_; }
  const decide::provision::Decision& bought() const { return bought_; }
  /// The last scale decision about the service, its plan apart; also one that left it alone, or none yet.
  const decide::scale::Decision& scale_decision(model::ServiceId service) const {
    return scale_decisions_.at(service.value);
  }

 private:
  void learn_outcomes(const std::vector<ports::Outcome>& outcomes, Instant now);
  void follow(const ports::Observation& seen);
  std::vector<model::ServiceId> due_services(const model::Snapshot& snapshot, Instant now);
  Instant next_scale(const model::Snapshot& snapshot, Instant now) const;
  void follow_promises(const model::Snapshot& snapshot, const std::vector<model::ServiceId>& due, Instant now);
  void scale(const ports::Observation& seen, const std::vector<model::ServiceId>& due, Instant now);
  void place_and_provision(const ports::Observation& seen, Instant now);
  template <typename MemoryType, typename Decide, typename Parse>
  auto decide_twice(MemoryType& memory, Decide&& decide, Parse&& parse);
  void submit(model::Plan plan, LoggedDecision::Layer layer, const model::Snapshot& snapshot, Instant now);
  void forget(const model::Action& action);
  std::optional<decide::scale::RoleView> role_of(const model::Snapshot& snapshot, const decide::scale::MixSource& mixes,
                                                 model::ServiceId service, Instant now) const;
  decide::scale::Decision decide_scale(const model::Snapshot& snapshot, const decide::scale::RoleView& role,
                                       const decide::scale::Policy& policy, Instant now);
  void conclude(decide::scale::Decision decision, const model::Snapshot& snapshot, Instant now);
  void note_directions(const model::Plan& plan, const model::Snapshot& snapshot, Instant now);
  void note_direction(model::ServiceId service, int sign, Instant now);
  bool scaling(model::ServiceId service, const model::Snapshot& snapshot) const;
  void let_drain(model::Plan& plan) const;

  Policies policies_;
  ports::World& world_;
  Options options_;
  Memory memory_;
  InFlight in_flight_;
  decide::Index index_;
  bool indexed_ = false;
  Instant next_tick_{};
  std::vector<Instant> next_scale_;  // by service
  Instant next_place_{};             // never without a placement
  DecisionLog log_;
  Stats stats_;
  struct Direction {
    int sign = 0;
    Instant at;
  };
  std::vector<Direction> last_direction_;                 // by service
  std::vector<decide::scale::Decision> scale_decisions_;  // by service
  decide::place::Decision placed_;                        // plan apart: what was kept stays
  decide::provision::Decision bought_;
};

}  // namespace capstan::control
