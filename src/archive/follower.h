#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/recording.h"
#include "base/error.h"

namespace capstan::archive {

/// Reads a recording that another program may still write. The file is open only during a call, so the writer is not
/// disturbed. After an error the next call tries again: a file that was cut or removed may come back.
class Follower {
 public:
  struct Callbacks {
    std::function<void(const SavedState&)> on_state;
    /// Is called when another recording has replaced the file, before the first state of the new recording.
    std::function<void()> on_replaced{};
    /// Is called with new outcomes of the states of earlier calls, before the new states.
    std::function<void(const std::vector<RecordedOutcome>&)> on_outcomes{};
  };

  /// @param place  place of an earlier reader of the recording, after which the first call begins
  explicit Follower(std::string path, Recording::Place place = {});

  /// Visits the states that were added since the last call.
  Result<void> read(const Callbacks& calls) { return read(calls, false); }
  /// Visits the last state if it was added since the last call, and skips those before it.
  Result<void> read_newest(const Callbacks& calls) { return read(calls, true); }

 private:
  /// Identity of the file behind a path. It differs once another file has taken that path.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t created_ns = 0;  ///< creation time; differs if a new file reuses the inode number
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  static Identity identity(const std::string& path);
  Result<void> read(const Callbacks& calls, bool only_newest);

  std::string path_;
  std::optional<Identity> identity_;  ///< identity of the file that was read last; none if no file was read
  Recording::Place place_;
};

}  // namespace capstan::archive
