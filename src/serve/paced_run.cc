#include "serve/paced_run.h"

#include <utility>

#include "base/assert.h"
#include "experiment/run/prepare.h"
#include "experiment/run/simulation.h"

namespace capstan::serve {

PacedRun::PacedRun(scenario::Scenario scenario, double speed, net::Clock clock, Callbacks calls)
    : scenario_(std::move(scenario)),
      speed_(speed),
      clock_(std::move(clock)),
      start_(clock_()),
      calls_(std::move(calls)) {
  CAPSTAN_ASSERT(speed_ > 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

PacedRun::~PacedRun() {
  thread_.request_stop();
  thread_.join();
}

/// Waits until the clock has reached the real time of a simulated moment.
void PacedRun::wait_until(Instant simulated, const std::stop_token& stop) {
  const double real_ns = static_cast<double>(simulated.since_start.count()) / speed_;
  const Instant due = start_ + Duration(static_cast<std::int64_t>(real_ns));
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Duration left = due - clock_();
    if (left <= Duration{}) return;
    stopped_.wait_for(lock, stop, left, [] { return false; });
  }
}

void PacedRun::run(const std::stop_token& stop) {
  const scenario::PolicySpec& policy = scenario_.policies.front();
  experiment::PreparedRun prepared = experiment::prepare(scenario_, policy, scenario_.seed);
  prepared.setup.stop = stop;
  prepared.setup.keep_history = scenario_.history;
  prepared.setup.input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                      const control::DueDecisions& due) {
    wait_until(snapshot.at, stop);
    if (stop.stop_requested()) return;
    const archive::SavedState state{snapshot, {}, policy.policies, memory, due};
    calls_.on_state(state, archive::redecide(state));
  };
  prepared.setup.outcome_observer = calls_.on_outcome;
  Result<experiment::RunResult> run = experiment::simulate(prepared.setup);
  if (!stop.stop_requested()) calls_.on_end(scenario_, std::move(run));
}

}  // namespace capstan::serve
