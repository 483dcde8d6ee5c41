#include "serve/recording_stream.h"

#include <utility>

namespace capstan::serve {

RecordingStream::RecordingStream(const std::string& path, archive::Recording::Place place, std::int64_t states,
                                 std::shared_ptr<RecordedHistory> history, Duration period)
    : position_(states),
      history_(std::move(history)),
      followed_(archive::Follower(path, std::move(place)), FollowedRecording::ReadMode::every_state,
                {.on_state = [this, command = replay_command(path)](
                                 const archive::SavedState& state,
                                 const archive::Redecision& decided) { add(state, decided, command); },
                 .on_replaced = [this] { is_new_ = true; },
                 .on_fault = [this](const std::string& text) { push({.kind = Event::Kind::fault, .text = text}); }},
                period) {}

void RecordingStream::add(const archive::SavedState& state, const archive::Redecision& decided,
                          const DecisionCommand& command) {
  if (is_new_) {
    position_ = 0;
    history_->clear();
    push({.kind = Event::Kind::replaced, .text = state.policies.name});
  }
  is_new_ = false;
  history_->note(state, decided);
  push({.state = show_state(position_++, state, decided, command)});
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
