#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/cluster/part.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The moments and losses of one batch job.
struct JobProgress {
  Instant started_at = Instant::never();  ///< time at which it first computed
  Instant ended_at = Instant::never();    ///< time at which its work was complete
  Duration saved{};                       ///< computing time up to the last checkpoint; all work once it has ended
  Duration lost{};                        ///< computing time after a checkpoint that restarts lost
  std::int64_t restarts = 0;              ///< times that it lost its pods after all of them had been bound

  bool has_started() const { return !started_at.is_never(); }
  bool has_ended() const { return !ended_at.is_never(); }
};

/// The batch jobs and their controller. A job arrives, waits until all its pods are bound, starts, computes, and ends.
/// A job that loses a pod after all were bound loses all of them and waits again, as a new gang. The ordinal of a job's
/// gang is its position in `ClusterConfig::jobs`.
class Jobs : Part {
 public:
  Jobs(Basics& basics, std::uint64_t seed, Pods& pods);

  bool owns(model::GangId id) const { return gangs_.contains(id); }
  std::size_t gangs() const { return gangs_.size(); }
  /// Returns what happened to each job that has arrived, in the order of arrival.
  const std::vector<JobProgress>& progress() const { return progress_; }
  bool have_all_arrived() const { return progress_.size() == config_.jobs.size(); }
  bool have_all_ended() const { return have_all_arrived() && ended_ == progress_.size(); }

  void arrive(std::uint32_t job);
  /// Creates the gang of a job that has none.
  void create_gang(std::uint32_t job);
  /// Notes that pods of the gang were bound. Starts the job if all are.
  void note_bound(model::GangId id);
  void started(model::GangId id);
  void done(model::GangId id);
  /// Removes a bound pod. A job that has begun to start restarts, another job gets a new pod.
  void evict(model::PodId id, Interruption why);

  /// Adds the GPU time of all jobs that is not in the shared account yet.
  void add_open(GpuAccount& account, Instant end) const;
  void check_invariants() const;
  void add_to(StateHash& hash) const;

 private:
  enum class Stage : std::uint8_t { binding, starting, computing };
  struct Gang {
    std::uint32_t job = 0;
    Stage stage = Stage::binding;
    Instant since;  ///< time from which it computes
  };

  void schedule_arrival();
  void remove(model::GangId id);
  void restart(model::GangId id, Interruption why);
  const JobClass& class_of(std::uint32_t job) const;

  Pods& pods_;
  RandomStream draws_;
  std::map<model::GangId, Gang> gangs_;
  std::vector<JobProgress> progress_;  ///< by position in `ClusterConfig::jobs`
  std::size_t ended_ = 0;
};

}  // namespace capstan::sim
