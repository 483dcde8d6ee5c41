#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "serve/wake_up.h"

namespace capstan::serve {

/// Runs jobs on a thread of its own, one at a time. A newer job replaces the older one, which is asked to stop.
class Worker {
 public:
  /// Does the work and returns its result. It ends soon after a stop is requested.
  using Job = std::function<Result<std::string>(const std::stop_token& stop)>;
  using JobId = std::uint64_t;
  /// A job that ended, or that was replaced or cancelled before it began.
  struct FinishedJob {
    JobId id = 0;
    bool stopped = false;  ///< true: it was replaced or cancelled, and `result` means nothing
    Result<std::string> result;
  };

  Worker();
  /// Stops the running job and waits for its end.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  JobId start(Job job);
  /// Stops a job, if it has not ended.
  void cancel(JobId id);
  /// Returns the jobs that ended since the last call.
  std::vector<FinishedJob> take_finished();
  /// Returns a descriptor that is readable if take_finished() has something to return.
  int poll_fd() const { return wake_.fd(); }

 private:
  struct WaitingJob {
    JobId id = 0;
    Job job;
    std::stop_source stop;
  };

  void run(const std::stop_token& stop);
  void add_finished(FinishedJob done);

  WakeUp wake_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  JobId last_id_ = 0;
  JobId running_ = 0;  ///< 0: none
  std::stop_source running_stop_{std::nostopstate};
  std::optional<WaitingJob> next_;
  std::vector<FinishedJob> finished_;
  std::jthread thread_;  // declared last, so that it ends before the members that it uses
};

}  // namespace capstan::serve
