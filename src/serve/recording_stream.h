#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "archive/recording.h"
#include "serve/followed_recording.h"
#include "serve/recorded.h"
#include "serve/recorded_history.h"
#include "serve/wake_up.h"

namespace capstan::serve {

/// Reads the states that are added to a recording, as the page shows them.
class RecordingStream {
 public:
  /// Something that happened since the last call of take_events().
  struct Event {
    enum class Kind : std::uint8_t {
      state,     ///< a state was added
      replaced,  ///< another recording is in the place of the file; its states follow, from 0
      fault,     ///< `text` says why the file cannot be read; it is empty when the file can be read again
    };
    Kind kind = Kind::state;
    ShownState state{};
    std::string text{};  ///< error of `fault`; name of the policy of `replaced`
  };

  /// @param place    place after the states that were read already
  /// @param states   number of these states
  /// @param history  the history of these states, which the stream continues
  /// @param awaited  the actions of these states without an outcome
  RecordingStream(const std::string& path, archive::Recording::Place place, std::int64_t states,
                  std::shared_ptr<RecordedHistory> history, AwaitedOutcomes awaited = {},
                  Duration period = FollowedRecording::kPeriod);

  std::vector<Event> take_events();
  /// Returns a descriptor that is readable if take_events() has something to return.
  int poll_fd() const { return wake_.fd(); }

 private:
  void add(const archive::SavedState& state, const archive::RepeatedDecisions& decided, const DecisionCommand& command);
  void add(const std::vector<archive::RecordedOutcome>& outcomes);
  void push(Event event);

  WakeUp wake_;
  std::mutex mutex_;
  std::vector<Event> events_;
  std::int64_t position_;
  std::shared_ptr<RecordedHistory> history_;
  AwaitedOutcomes awaited_;
  std::vector<ShownOutcome> outcomes_;  ///< outcomes that go to the page with the next state
  bool is_new_ = false;         ///< true: another recording has replaced the file, and its first state has not come yet
  FollowedRecording followed_;  // declared last, so that it ends before the members that it uses
};

}  // namespace capstan::serve
