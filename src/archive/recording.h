#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/recorded_outcome.h"
#include "archive/saved_state.h"
#include "base/error.h"
#include "base/time.h"

// A recording is an SQLite file with the inputs of successive decisions, so that each decision can be made again later,
// also under another policy, and with the outcomes of their actions. Each state is compressed against the one before
// it, so its size depends on what changed.
namespace capstan::archive {

/// Limits above which the oldest states are dropped. States are dropped in runs of 128, and the newest run always
/// stays, so a file can exceed its limits by one run.
struct RecordingLimits {
  std::int64_t bytes = 256 << 20;          ///< size of all compressed states
  Duration age = std::chrono::hours(168);  ///< largest age of a state, measured from the newest state
};

struct ContinuedRecorder;

/// Writes a recording. After a crash of the machine the file may lack the last states; it is readable in any case.
class Recorder {
 public:
  /// Creates the file, or replaces a recording. Any other file of this name is an error and stays as it is.
  static Result<Recorder> create(const std::string& path, const RecordingLimits& limits = {});
  /// Continues a recording, or creates the file.
  static Result<Recorder> append(const std::string& path, const RecordingLimits& limits = {});
  /// Continues a recording, or creates the file. A damaged recording and one of a later version are moved aside, and a
  /// new one begins.
  static Result<ContinuedRecorder> append_or_set_aside(const std::string& path, const RecordingLimits& limits = {});
  static constexpr std::size_t kOpenStates = 2000;
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// Appends a state. If the clock was set back, the state may be older than the last one.
  Result<void> add(const SavedState& state);
  /// Appends the outcome of an action. An outcome is left out if its state is not among the last `kOpenStates`.
  Result<void> add_outcome(const control::ActionOutcome& outcome);
  /// Returns whether the last write failed because the file is damaged.
  bool is_damaged() const;
  /// Writes the states that are not in the file yet, and closes the file.
  Result<void> finish();

 private:
  struct File;
  explicit Recorder(std::unique_ptr<File> file);
  static Result<Recorder> open(const std::string& path, const RecordingLimits& limits, bool* is_damaged = nullptr);

  std::unique_ptr<File> file_;
};

/// A recording to continue.
struct ContinuedRecorder {
  Recorder recorder;
  std::string set_aside{};  ///< new name of the file that could not be continued; empty: there was none
  std::string fault{};      ///< reason why that file could not be continued
};

/// Reads a recording from its first state to its last, including states that are added in the meantime. States that are
/// damaged, or compressed against a damaged one, are left out and counted.
class Recording {
 public:
  /// The place after the last state that was read. Another reader of the same recording can continue from it.
  struct Place {
    std::int64_t number = -1;  ///< number of that state; -1: none was read
    std::string stored{};      ///< its bytes in the file, which identify the recording
    std::string text{};        ///< the state as text, against which the next one is compressed
    std::int64_t outcome = 0;  ///< number of the last outcome that was read; 0: none
  };

  /// Opens a recording. A file that is not a recording, or that has a newer version, is an input error.
  static Result<Recording> open(const std::string& path);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  std::int64_t states() const;   ///< number of states in the file when it was opened
  std::int64_t damaged() const;  ///< number of damaged states that were left out so far
  /// Returns the next readable state; nothing after the last one. If the recording has states and none is readable, the
  /// result is an input error that names the first damaged state.
  Result<std::optional<SavedState>> next();
  /// Returns the last readable state that was not read yet; nothing if there is none. It decompresses only the states
  /// of the last run, or of earlier runs if every state of the last run is damaged.
  Result<std::optional<SavedState>> newest();
  /// Returns the first state at or after a moment; nothing if the recording ends before it.
  Result<std::optional<SavedState>> first_from(Instant at);

  /// Returns true if the recording has outcomes of actions. Recordings of earlier versions have none.
  bool has_outcomes() const;
  /// Returns the outcomes of the actions of a state, in the order in which they came.
  Result<std::vector<RecordedOutcome>> outcomes_of(std::int64_t state);
  /// Returns the outcomes that were not read yet, of the states that were read.
  Result<std::vector<RecordedOutcome>> new_outcomes();

  Place place() const;
  /// Continues from the place of an earlier reader. States that were dropped meanwhile are left out.
  /// @return false, and nothing changes, if the place is not in this recording
  Result<bool> continue_from(Place place);

 private:
  struct File;
  explicit Recording(std::unique_ptr<File> file);

  std::unique_ptr<File> file_;
};

}  // namespace capstan::archive
