#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/monotonic.h"
#include "scenario/scenario.h"
#include "serve/paced_run.h"
#include "serve/recorded.h"
#include "serve/recorded_history.h"
#include "serve/wake_up.h"

namespace capstan::serve {

/// Simulates the first policy of a scenario on a thread of its own, at the pace of a clock.
class LiveRun {
 public:
  /// Something that happened since the last call of take_events().
  struct Event {
    enum class Kind : std::uint8_t {
      state,   ///< the controller decided
      ended,   ///< the simulation is over, and `result` is its result
      failed,  ///< the simulation could not go on; `error` says why
    };
    Kind kind = Kind::state;
    std::int64_t position = 0;  ///< number of the state, from 0
    ShownState state{};
    std::string result{};  ///< JSON
    std::string error{};
  };

  /// @param speed    simulated time for each unit of real time; more than 0
  /// @param command  returns the command that prints a decision again
  /// @param again    the command that simulates the whole run again and prints its result
  /// @param history  notes every state
  LiveRun(scenario::Scenario scenario, double speed, DecisionCommand command, std::string again,
          std::shared_ptr<RecordedHistory> history, net::Clock clock);
  std::vector<Event> take_events();
  /// Returns a descriptor that is readable if take_events() has something to return.
  int poll_fd() const { return wake_.fd(); }

 private:
  void push(Event event);

  WakeUp wake_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t position_ = 0;
  AwaitedOutcomes awaited_;
  std::vector<ShownOutcome> outcomes_;  ///< outcomes that go to the page with the next state
  std::shared_ptr<const model::Catalog> catalog_;
  PacedRun run_;  // declared last, so that it ends before the members that it uses
};

}  // namespace capstan::serve
