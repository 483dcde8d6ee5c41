#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "base/error.h"
#include "experiment/run/result.h"
#include "net/monotonic.h"
#include "scenario/scenario.h"

namespace capstan::serve {

/// Simulates the first policy of a scenario on a thread of its own, at the pace of a clock.
class PacedRun {
 public:
  /// The callbacks. They are called on the thread of the run.
  struct Callbacks {
    /// Is called with the inputs of every decision and with the decisions.
    std::function<void(const archive::SavedState&, const archive::RepeatedDecisions&)> on_state;
    /// Is called with the outcome of every action; may be empty.
    control::OutcomeObserver on_outcome{};
    /// Is called at the end, unless the run was stopped.
    std::function<void(const scenario::Scenario&, Result<experiment::RunResult>)> on_end;
  };

  /// @param speed  simulated time for each unit of real time; more than 0
  PacedRun(scenario::Scenario scenario, double speed, net::Clock clock, Callbacks calls);
  /// Stops the simulation and waits for its end.
  ~PacedRun();
  PacedRun(const PacedRun&) = delete;
  PacedRun& operator=(const PacedRun&) = delete;

 private:
  void run(const std::stop_token& stop);
  void wait_until(Instant simulated, const std::stop_token& stop);

  const scenario::Scenario scenario_;
  const double speed_;
  const net::Clock clock_;
  const Instant start_;
  const Callbacks calls_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // declared last, so that it ends before the members that it uses
};

}  // namespace capstan::serve
