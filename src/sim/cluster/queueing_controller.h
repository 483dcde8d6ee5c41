#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/cluster/component.h"
#include "sim/cluster/free_room.h"
#include "sim/cluster/jobs.h"
#include "sim/cluster/node_provider.h"

namespace capstan::sim {

/// The queueing controller of the batch jobs, such as Kueue. The control loop that uses ports::World only places gangs;
/// this part decides which jobs may ask for GPUs, and for how many. It looks at the cluster every five seconds, if a
/// class of jobs needs it:
/// - A job that may use several kinds of GPU asks for the first kind that has room for it, when it arrives and again
///   while it waits. If no kind has room, the job asks for the first kind of which some node could hold its pods.
/// - An elastic job that has waited for a minute asks for as many pods as there is room for, between its minimum and
///   its maximum. While it runs with fewer pods than its maximum and no gang waits for GPUs of its kind, it takes more
///   pods after a checkpoint.
/// - A waiting gang takes the GPUs of preemptible jobs with a lower priority, if that makes room for all its pods in
///   one domain and in its queues. If some pods of the gang are bound, it takes room only in their domain. An elastic
///   job gives up only some of its pods if its minimum is left; it goes on from its last checkpoint. Of the domains,
///   the gang takes the one whose jobs have the lowest priority, then the one with the fewest GPUs to take, then the
///   one whose jobs began last. In this domain, the jobs with the lowest priority end first, of these the youngest. A
///   job ends only if the gang needs its GPUs.
/// - Until the gang is placed, at most for a minute, waiting jobs with a lower priority that came before the gang and
///   want the same kind of GPU do not ask for GPUs. In Kueue, too, a workload has no pods until it is admitted.
class QueueingController : Component {
 public:
  QueueingController(Basics& basics, const NodeProvider& nodes, Jobs& jobs);

  /// Sets the kinds of GPU of waiting jobs and the numbers of pods of elastic jobs, and ends jobs for waiting gangs.
  /// @param ending  nodes whose termination is on its way
  void fit_and_preempt(const std::set<model::NodeId>& ending);
  /// Chooses the kind of GPU for which a new gang of a job asks, if it may use several.
  void choose_gpu(model::GangId id);
  void add_to(StateHash& hash) const;

 private:
  /// A job that ends for a gang, or an elastic one that goes on with some of its pods.
  struct Victim {
    RunningJob job;
    std::vector<model::PodId> kept{};  ///< pods with which the job goes on; none: it ends
    std::vector<model::PodId> lost{};  ///< the other pods of the job
  };
  /// The jobs that end for a gang, and the domain in which they make room.
  struct Choice {
    std::vector<Victim> victims;
    FreeRoom::Domain domain;
    std::int32_t highest_priority = 0;
    MilliGpu gpus;
    Instant first_bound_at = Instant::never();  ///< start of the job that began first
    auto rank() const { return std::tuple(highest_priority, gpus.count, -first_bound_at.since_start.count()); }
  };
  using Request = std::pair<model::GangSpec, std::optional<std::uint32_t>>;

  std::vector<WaitingGang> waiting_gangs() const;
  WaitingGang waiting_gang(model::GangId id, const model::Gang& row) const;
  void choose_gpu(WaitingGang gang, FreeRoom& room);
  bool may_exist(const model::PodSet& pods) const;
  bool has_several_gpus(std::uint32_t job) const;
  void fit_pod_count(const WaitingGang& gang, const FreeRoom& room);
  void add_pods(const std::vector<WaitingGang>& waiting, const std::set<model::NodeId>& ending);
  void keep_pods(const WaitingGang& gang, const FreeRoom::Domain& domain, Victim& victim, FreeRoom& room) const;
  void preempt_for(const WaitingGang& gang, FreeRoom& room, const std::vector<WaitingGang>& waiting);
  std::optional<Choice> choose(const WaitingGang& gang, FreeRoom& room) const;
  std::optional<Choice> choose_in(const WaitingGang& gang, const FreeRoom::Domain& domain,
                                  std::vector<RunningJob> victims, FreeRoom& room) const;
  void give_back(const RunningJob& job, FreeRoom& room) const;
  void take_again(const RunningJob& job, FreeRoom& room) const;
  void forget_placed();

  const NodeProvider& nodes_;
  Jobs& jobs_;
  bool has_preemptible_ = false;
  bool has_elastic_ = false;
  bool has_choice_of_gpu_ = false;             ///< true: some job may use several kinds of GPU
  std::map<model::GangId, Instant> promised_;  ///< gangs for which jobs ended, and when
  std::set<Request> unsatisfiable_;            ///< requests for which the current pass found no room
};

}  // namespace capstan::sim
