#include "serve/recording_stream.h"

#include <utility>

namespace capstan::serve {

RecordingStream::RecordingStream(const std::string& path, archive::Recording::Place place, std::int64_t states,
                                 std::shared_ptr<RecordedHistory> history, AwaitedOutcomes awaited, Duration period)
    : position_(states),
      history_(std::move(history)),
      awaited_(std::move(awaited)),
      followed_(archive::Follower(path, std::move(place)), FollowedRecording::ReadMode::every_state,
                {.on_state = [this, command = replay_command(path)](
                                 const archive::SavedState& state,
                                 const archive::RepeatedDecisions& decided) { add(state, decided, command); },
                 .on_replaced = [this] { is_new_ = true; },
                 .on_outcomes = [this](const std::vector<archive::RecordedOutcome>& outcomes) { add(outcomes); },
                 .on_fault = [this](const std::string& text) { push({.kind = Event::Kind::fault, .text = text}); }},
                period) {}

void RecordingStream::add(const archive::SavedState& state, const archive::RepeatedDecisions& decided,
                          const DecisionCommand& command) {
  if (is_new_) {
    position_ = 0;
    history_->clear();
    awaited_ = {};
    outcomes_.clear();
    push({.kind = Event::Kind::replaced, .text = state.policies.name});
  }
  is_new_ = false;
  history_->note(state, decided);
  awaited_.add(state.number, position_, decided);
  push({.state = show_state(position_++, state, decided, command, std::exchange(outcomes_, {}))});
}

void RecordingStream::add(const std::vector<archive::RecordedOutcome>& outcomes) {
  for (const archive::RecordedOutcome& outcome : outcomes) {
    if (std::optional<ShownOutcome> shown = awaited_.take(outcome.state, outcome)) {
      outcomes_.push_back(*std::move(shown));
    }
  }
}

std::vector<RecordingStream::Event> RecordingStream::take_events() {
  const std::lock_guard lock(mutex_);
  wake_.clear();
  return std::exchange(events_, {});
}

void RecordingStream::push(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  wake_.set();
}

}  // namespace capstan::serve
