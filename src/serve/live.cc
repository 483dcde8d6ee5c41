#include "serve/live.h"

#include <utility>

#include "experiment/compare.h"
#include "experiment/report/render.h"

namespace capstan::serve {
namespace {

/// Returns the last event of a run.
LiveRun::Event end_of(const scenario::Scenario& scenario, const std::string& again,
                      Result<experiment::RunResult> result) {
  using Kind = LiveRun::Event::Kind;
  if (!result) return {.kind = Kind::failed, .error = result.error().text()};
  experiment::Comparison comparison = experiment::describe(scenario);
  comparison.results.push_back(*std::move(result));
  return {.kind = Kind::ended,
          .result = experiment::render_json(comparison, {.decisions = true, .command = again, .compact = true})};
}

}  // namespace

LiveRun::LiveRun(scenario::Scenario scenario, double speed, DecisionCommand command, std::string again,
                 std::shared_ptr<RecordedHistory> history, net::Clock clock)
    : run_(std::move(scenario), speed, std::move(clock),
           {.on_state =
                [this, command = std::move(command), history = std::move(history)](
                    const archive::SavedState& state, const archive::RepeatedDecisions& decided) {
                  history->note(state, decided);
                  const std::int64_t decision = state.snapshot.at.since_start.count();
                  awaited_.add(decision, position_, decided);
                  catalog_ = state.snapshot.catalog;
                  push({.position = position_,
                        .state = show_state(position_, state, decided, command, std::exchange(outcomes_, {}))});
                  ++position_;
                },
            .on_outcome =
                [this](const control::ActionOutcome& outcome) {
                  if (catalog_ == nullptr) return;
                  if (auto shown = awaited_.take(outcome.decided_at.since_start.count(),
                                                 archive::recorded_outcome(outcome, *catalog_))) {
                    outcomes_.push_back(*std::move(shown));
                  }
                },
            .on_end = [this, again = std::move(again)](
                          const scenario::Scenario& ended,
                          Result<experiment::RunResult> result) { push(end_of(ended, again, std::move(result))); }}) {}

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

}  // namespace capstan::serve
