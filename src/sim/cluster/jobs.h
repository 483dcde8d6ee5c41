#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/known_row.h"
#include "sim/cluster/component.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The moments and losses of one batch job.
struct JobProgress {
  Instant started_at = Instant::never();  ///< time at which it first computed
  Instant ended_at = Instant::never();    ///< time at which its work was complete
  /// Computing time up to the last checkpoint; all work once it has ended. An hour with half of its pods counts as
  /// half an hour.
  Duration saved{};
  Duration lost{};               ///< computing time after the last checkpoint that restarts lost, scaled like `saved`
  std::int64_t restarts = 0;     ///< times that it lost its pods after all of them had been bound
  std::int64_t preemptions = 0;  ///< the restarts for a gang with a higher priority
  std::int64_t resizes = 0;      ///< times that its pods changed while it ran; it then goes on from its last checkpoint
  std::int64_t undersized_starts = 0;  ///< times that it began to compute with fewer pods than its maximum

  bool has_started() const { return !started_at.is_never(); }
  bool has_ended() const { return !ended_at.is_never(); }
};

/// A batch job whose pods all have a node.
struct RunningJob {
  model::GangId gang;
  std::int32_t priority = 0;
  Instant bound_at;  ///< time from which all its pods have a node
  MilliGpu gpus;
  std::int32_t min_pods = 0;  ///< fewest pods with which an elastic job goes on; 0: all
};

/// A running elastic job that may have more pods.
struct UndersizedJob {
  model::GangId gang;
  std::int32_t missing = 0;  ///< pods that it lacks to its maximum
};

/// The batch jobs and their controller. A job arrives, waits until all its pods are bound, starts, computes, and ends.
/// A job that loses a pod after all were bound loses all of them and waits again, as a new gang. The ordinal of a job's
/// gang is the position of the job in `ClusterConfig::jobs`.
class Jobs : Component {
 public:
  Jobs(Basics& basics, std::uint64_t seed, Pods& pods);

  bool owns(model::GangId id) const { return gangs_.contains(id); }
  std::size_t gangs() const { return gangs_.size(); }
  /// Returns what happened to each job that has arrived, in the order of arrival.
  const std::vector<JobProgress>& progress() const { return progress_; }
  /// Returns for each job that has arrived, in the order of arrival, its computing time since it last started to
  /// compute. An hour with half of its pods counts as half an hour. `progress()` does not contain this time yet.
  std::vector<Duration> open_work(Instant end) const;
  bool have_all_arrived() const { return progress_.size() == config_.jobs.size(); }
  bool have_all_ended() const { return have_all_arrived() && ended_ == progress_.size(); }
  /// Returns the part of all jobs that has ended, 0 to 1.
  double part_ended() const {
    return config_.jobs.empty() ? 1 : static_cast<double>(ended_) / static_cast<double>(config_.jobs.size());
  }

  model::GangId arrive(std::uint32_t job);
  /// Creates the gang of a job that has none.
  model::GangId create_gang(std::uint32_t job) { return create_gang(job, known_row(config_.jobs, job).pods); }
  /// Notes that pods of the gang were bound. Starts the job if all are.
  void note_bound(model::GangId id);
  void started(model::GangId id);
  void done(model::GangId id);
  /// Removes a bound pod. The job restarts if it has begun to start. Otherwise a new pod replaces the removed one.
  void evict(model::PodId id, Interruption why);

  /// Returns the running preemptible jobs with a priority below `priority` that use the kind of GPU.
  std::vector<RunningJob> preemptible_below(std::int32_t priority, model::GpuKindId gpu) const;
  /// Returns the elastic jobs below their maximum of pods that have saved a checkpoint less than `since` ago, so that a
  /// restart with more pods loses little work. Jobs that would not end earlier by such a restart are left out.
  std::vector<UndersizedJob> undersized_at_checkpoint(Duration since) const;
  /// Restarts a running elastic job from its last checkpoint with a pod on each of these nodes. Its controller keeps
  /// the GPUs: the job does not wait for a placement.
  void resize(model::GangId id, const std::vector<model::NodeId>& nodes);
  /// Restarts a running job to make room for a gang with a higher priority.
  void preempt(model::GangId id);
  /// Changes the number of pods of a gang that has no bound pod.
  void set_pod_count(model::GangId id, std::int32_t pods);
  /// Returns the kinds of GPU that a job may use, in the order in which it asks for them.
  std::vector<model::GpuKindId> gpus_of_gang(model::GangId id) const;
  /// Changes the kind of GPU for which a gang without a bound pod asks.
  void set_gpu(model::GangId id, model::GpuKindId gpu);
  /// Removes a gang that waits for nodes. Its job gets a new gang when release_withheld() is called.
  void withhold(model::GangId id);
  void release_withheld();

  /// Adds the GPU time of all jobs that is not in the shared account yet.
  void add_unaccounted(GpuAccount& account, Instant end) const;
  void check_invariants() const;
  void add_to(StateHash& hash) const;

 private:
  enum class Stage : std::uint8_t { binding, starting, computing };
  struct Gang {
    std::uint32_t job = 0;
    Stage stage = Stage::binding;
    Instant bound_at;  ///< time from which all its pods have a node
    Instant since;     ///< time from which it computes
  };

  model::GangId create_gang(std::uint32_t job, std::int32_t pods);
  void save_progress(model::GangId id);
  void schedule_arrival();
  void remove(model::GangId id);
  void restart(model::GangId id, Interruption why);
  const JobClass& class_of(std::uint32_t job) const;

  Pods& pods_;
  RandomStream draws_;
  std::map<model::GangId, Gang> gangs_;
  std::vector<JobProgress> progress_;  ///< by position in `ClusterConfig::jobs`
  std::size_t ended_ = 0;
  std::set<std::uint32_t> withheld_;  ///< jobs that have no gang until release_withheld()
};

}  // namespace capstan::sim
