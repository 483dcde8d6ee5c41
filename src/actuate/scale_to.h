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

/// What is wanted of a target, and what is known of those who leave. Shared by whoever decides and the effect: it may
/// be revised while the effect is on its way, and the loads are fed each turn.
struct ScaleGoal {
  /// Requests that a pod holds, running and waiting together.
  struct Load {
    bool usable = false;  ///< a value that is not stale
    RequestCount requests = 0;
    Instant measured_at;
  };
  /// A pod that is out of the router, and since when.
  struct Out {
    Ref pod;
    Instant since;
  };

  Ref target;
  ReplicaCount seen = 0;  ///< that the decision was made from
  ReplicaCount wanted = 0;
  std::vector<Ref> victims;          ///< the serving pod of each replica that will go
  std::set<std::string> unserved;    ///< those of them, by uid, that were never in the router: they hold no work
  std::set<std::string> counted_on;  ///< of a lowering: the pods, by uid, that served at the decision, victims or not
  std::int64_t lost = 0;             ///< those of them that are gone
  std::vector<Out> out;              ///< by an earlier effect; those that are no victims are put back
  bool mark = false;                 ///< the workload lets itself be told which ones go: a Deployment
  DrainMeans means;
  Duration drain_limit = std::chrono::minutes(10);  ///< then a replica that still has work is removed all the same
  std::map<std::string, Load> loads;                ///< by uid; a pod that is not there is silent
  bool called_off = false;                          ///< nothing is wanted any more
  std::uint64_t revision = 0;                       ///< raised with every change but of the loads
};

/// Brings a target to a number of replicas. Fewer: the victims leave the router, finish what they hold, are marked, and
/// then /scale follows; where any of it fails they are put back. A lowering is given up where a replica that served at
/// the decision is gone: its replacement has just begun to start, and the workload could remove one that serves. A goal
/// that is revised is followed from where things stand, so that a drain that is called off ends with all its pods back
/// in the router.
class ScaleTo : public Effect {
 public:
  /// Routers and scrapers learn of a pod that left a little later; a reading counts from so long after it.
  static constexpr Duration kRouterLag = std::chrono::seconds(5);

  ScaleTo(std::shared_ptr<const ScaleGoal> goal, kube::WallClock wall);

  Step next(Instant now) override;
  void answered(const kube::Outcome& outcome, Instant now) override;
  Standing standing() const override;

 private:
  enum class Task : std::uint8_t { check_owner, put_back, unmark, take_out, mark, scale };
  enum class Drain : std::uint8_t { done, waiting, silent };

  void start(Task task, Change change);
  void finished(Instant now);
  std::optional<Step> plan(Instant now);
  bool put_back_one();
  bool take_out_one();
  bool mark_one();
  Drain drained(Instant now, Instant& until);
  void refuse(model::Reason why) { ending_ = Verdict::refused(why); }
  bool lowers() const { return goal_->wanted < goal_->seen; }
  std::int64_t lost() const;

  std::shared_ptr<const ScaleGoal> goal_;
  kube::WallClock wall_;
  std::uint64_t revision_;
  Task task_ = Task::check_owner;
  std::optional<Change> change_;
  bool owner_checked_ = false;
  bool scaled_ = false;
  std::map<std::string, ScaleGoal::Out> out_;  // by uid
  std::map<std::string, Ref> marked_;          // by uid
  std::map<std::string, Ref> gone_;            // by uid: victims that no longer exist
  std::int64_t silent_ = 0;
  std::optional<Verdict> ending_;
};

}  // namespace capstan::actuate
