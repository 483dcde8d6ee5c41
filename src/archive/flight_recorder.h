#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "archive/recording.h"

namespace capstan::archive {

/// Records the decisions of a controller. No fault of the file stops the controller: a damaged recording is moved aside
/// and a new one begins, and after any other error the recorder tries again.
class FlightRecorder {
 public:
  static constexpr Duration kRetryPeriod = std::chrono::seconds(30);

  /// Takes a message for the people who run the controller.
  using Log = std::function<void(bool is_error, const std::string& message)>;

  /// Continues a recording, or creates the file. The only error is a file of this name that is not a recording.
  static Result<FlightRecorder> open(std::string path, Instant now, Log log, const RecordingLimits& limits = {});

  /// Appends a state.
  /// @param now  time of the caller's clock, which never goes back
  void add(const SavedState& state, Instant now);
  /// Appends the outcome of an action. An outcome that cannot be written is lost; the next call of `add` reports the
  /// fault.
  void add_outcome(const control::ActionOutcome& outcome);
  /// Writes the states that are not in the file yet, and closes the file.
  void finish();

  bool is_recording() const { return recorder_.has_value(); }  ///< false: the last write failed
  std::int64_t written() const { return written_; }            ///< states that were written
  std::int64_t lost() const { return lost_; }                  ///< states that could not be written

 private:
  FlightRecorder(std::string path, Log log, const RecordingLimits& limits)
      : path_(std::move(path)), log_(std::move(log)), limits_(limits) {}
  Result<void> open_file();
  void log_set_aside(const std::string& fault, const std::string& name) const;
  void note_fault(const Error& error, Instant now);

  std::string path_;
  Log log_;
  RecordingLimits limits_;
  std::optional<Recorder> recorder_;  ///< nothing after an error, until the next attempt succeeds
  Instant next_try_{};
  std::string logged_;  ///< the last logged error, which is not logged again; empty while the recorder works
  std::int64_t written_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace capstan::archive
