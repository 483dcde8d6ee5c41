#include "serve/live.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "base/assert.h"
#include "experiment/compare.h"
#include "experiment/report/render.h"
#include "experiment/run/prepare.h"

namespace capstan::serve {

std::string live_start(const std::string& source, const std::string& policy, const std::string& command) {
  const nlohmann::ordered_json json = {{"format_version", 1},
                                       {"recording", source},
                                       {"policy", policy},
                                       {"states", 0},
                                       {"at_ns", nlohmann::ordered_json::array()},
                                       {"services", nlohmann::ordered_json::array()},
                                       {"actions", nlohmann::ordered_json::array()},
                                       {"actions_left_out", 0},
                                       {"command", command}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

LiveRun::LiveRun(scenario::Scenario scenario, double speed, MomentCommand command, std::string again, net::Clock clock)
    : scenario_(std::move(scenario)),
      speed_(speed),
      command_(std::move(command)),
      again_(std::move(again)),
      clock_(std::move(clock)),
      start_(clock_()) {
  CAPSTAN_ASSERT(speed_ > 0);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LiveRun::~LiveRun() {
  thread_.request_stop();
  thread_.join();
}

std::vector<LiveRun::Event> LiveRun::take_events() {
  const std::lock_guard lock(mutex_);
  wake_.clear();
  return std::exchange(events_, {});
}

void LiveRun::push(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  wake_.set();
}

/// Waits until the clock has reached the real time of a simulated moment.
void LiveRun::wait_until(Instant simulated, const std::stop_token& stop) {
  const double real_ns = static_cast<double>(simulated.since_start.count()) / speed_;
  const Instant due = start_ + Duration(static_cast<std::int64_t>(real_ns));
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Duration left = due - clock_();
    if (left <= Duration{}) return;
    stopped_.wait_for(lock, stop, left, [] { return false; });
  }
}

void LiveRun::run(const std::stop_token& stop) {
  const scenario::PolicySpec& policy = scenario_.policies.front();
  experiment::Prepared prepared = experiment::prepare(scenario_, policy, scenario_.seed);
  std::int64_t position = 0;
  prepared.setup.stop = stop;
  prepared.setup.witness = [&](const model::Snapshot& snapshot, const control::Memory& memory) {
    wait_until(snapshot.at, stop);
    const archive::SavedState state{snapshot, {}, policy.policies, memory};
    push({.position = position, .state = show_state(position, state, archive::redecide(state), command_)});
    ++position;
  };
  Result<experiment::RunResult> run = experiment::simulate(prepared.setup);
  if (stop.stop_requested()) return;
  if (!run) return push({.kind = Event::Kind::failed, .error = run.error().text()});
  experiment::Comparison comparison = experiment::describe(scenario_);
  comparison.results.push_back(*std::move(run));
  push({.kind = Event::Kind::ended,
        .result = experiment::render_json(comparison, {.decisions = true, .command = again_, .compact = true})});
}

}  // namespace capstan::serve
