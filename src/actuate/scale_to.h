#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actuate/change.h"
#include "actuate/scale_target.h"
#include "actuate/serving.h"

namespace capstan::actuate {

/// The desired state of a scale target, and the state of the pods that will be removed. `ActionDispatcher` and the
/// effect share it: a newer decision may revise it while the effect runs, and the loads are updated in each `run_once`.
struct ScaleGoal {
  /// Requests of a pod, running and waiting together.
  struct Load {
    bool usable = false;  ///< the value is not stale
    RequestCount requests = 0;
    Instant measured_at;
  };
  /// A pod that is out of the router.
  struct DrainedPod {
    Ref pod;
    Instant since;
  };

  Ref target;
  ReplicaCount requested_before = 0;  ///< replicas that the target requested at the decision
  ReplicaCount desired = 0;
  std::vector<Ref> victims;                   ///< serving pod of each replica that will be removed
  std::set<std::string> never_served;         ///< UIDs of victims that were never in the router and have no requests
  std::set<std::string> serving_at_decision;  ///< scale-down: UIDs of all pods that served at the decision
  std::int64_t lost = 0;                      ///< pods in `serving_at_decision` that are gone
  std::vector<DrainedPod> drained;            ///< pods that an earlier effect took out of the router
  bool can_mark = false;  ///< a mark on a pod makes the workload remove it first (Deployment, ReplicaSet)
  DrainMeans means;
  Duration drain_limit = std::chrono::minutes(10);  ///< time after which a replica is removed despite its requests
  std::map<std::string, Load> loads;                ///< loads of pods by UID; an absent pod reports nothing
  bool is_cancelled = false;                        ///< the goal was cancelled
  std::uint64_t revision = 0;                       ///< number of changes so far, without changes of the loads
};

/// Scales a target. For a scale-down, the victims leave the router, finish their requests and are marked, and then
/// /scale is written. If a step fails, the victims are put back. A scale-down ends without a write if a replica that
/// served at the decision is gone. The workload is then starting a replacement for it, and could remove a serving
/// replica instead of a victim. A revised goal continues from the current state, so that a cancelled drain ends with
/// all pods back in the router.
class ScaleTo : public Effect {
 public:
  /// Time until routers and scrapers have noticed that a pod left. Readings within this time do not count.
  static constexpr Duration kRouterLag = std::chrono::seconds(5);

  ScaleTo(std::shared_ptr<const ScaleGoal> goal, kube::WallClock wall);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Progress progress() const override;

 private:
  enum class Task : std::uint8_t { check_owner, put_back, unmark, take_out, mark, scale };
  enum class Drain : std::uint8_t { done, waiting, silent };

  void start(Task task, Change change);
  void finished(Instant now);
  std::optional<Step> plan(Instant now);
  bool undo_one_step();
  bool take_out_one();
  bool mark_one();
  Drain drain_state(Instant now, Instant& until);
  void refuse(model::Reason why) { ending_ = EffectResult::refused(why); }
  bool lowers() const { return goal_->desired < goal_->requested_before; }
  std::int64_t lost() const;

  std::shared_ptr<const ScaleGoal> goal_;
  kube::WallClock wall_;
  std::uint64_t revision_;
  Task task_ = Task::check_owner;
  std::optional<Change> change_;
  bool owner_checked_ = false;
  bool scaled_ = false;
  std::map<std::string, ScaleGoal::DrainedPod> drained_;  // pods out of the router, by UID
  std::map<std::string, Ref> marked_;                     // marked pods, by UID
  std::map<std::string, Ref> gone_;                       // victims that no longer exist, by UID
  std::int64_t silent_ = 0;
  std::optional<EffectResult> ending_;
};

}  // namespace capstan::actuate
