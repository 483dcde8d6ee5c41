#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "archive/follower.h"
#include "archive/redecide.h"
#include "base/time.h"

namespace capstan::serve {

/// Follows a recording on a thread of its own, and decides each new state again.
class FollowedRecording {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(1);  ///< time between two looks at the file

  /// The callbacks. They are called on the thread that follows the recording.
  struct Callbacks {
    std::function<void(const archive::SavedState&, const archive::RepeatedDecisions&)> on_state;
    /// Is called when another recording has taken the place of the file, before its first state; may be empty.
    std::function<void()> on_replaced{};
    /// Is called with outcomes of earlier states; may be empty.
    std::function<void(const std::vector<archive::RecordedOutcome>&)> on_outcomes{};
    /// Is called when the file can no longer be read, with the reason, and with an empty text when it can be read
    /// again.
    std::function<void(const std::string&)> on_fault;
  };
  enum class ReadMode : std::uint8_t { every_state, newest_state };

  FollowedRecording(archive::Follower follower, ReadMode read_mode, Callbacks calls, Duration period = kPeriod);
  /// Ends the thread after the state that it decides.
  ~FollowedRecording();
  FollowedRecording(const FollowedRecording&) = delete;
  FollowedRecording& operator=(const FollowedRecording&) = delete;

 private:
  void run(const std::stop_token& stop);

  archive::Follower follower_;
  const ReadMode read_mode_;
  const Callbacks calls_;
  const Duration period_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // declared last, so that it ends before the members that it uses
};

}  // namespace capstan::serve
