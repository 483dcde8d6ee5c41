#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "archive/saved_state.h"
#include "base/error.h"
#include "base/time.h"

// A recording is an SQLite file with the inputs of successive decisions, so that each decision can be made again later,
// also under another policy. Each state is compressed against the one before it, so its size depends on what changed.
namespace capstan::archive {

/// Limits above which the oldest states are dropped. States are dropped in runs of 128, and the newest run always
/// stays, so a file can exceed its limits by one run.
struct RecordingLimits {
  std::int64_t bytes = 256 << 20;          ///< size of all compressed states
  Duration age = std::chrono::hours(168);  ///< time between a state and the newest one
};

/// Writes a recording. After a crash of the machine the file may lack the last states; it is readable in any case.
class Recorder {
 public:
  /// Creates the file, or replaces a recording. Any other file of this name is an error and stays as it is.
  static Result<Recorder> create(const std::string& path, const RecordingLimits& limits = {});
  /// Continues a recording, or creates the file.
  static Result<Recorder> append(const std::string& path, const RecordingLimits& limits = {});
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// Appends a state. It is an error if the state is older than the last one.
  Result<void> add(const SavedState& state);
  /// Writes the states that are not in the file yet, and closes the file.
  Result<void> finish();

 private:
  struct File;
  explicit Recorder(std::unique_ptr<File> file);
  static Result<Recorder> open(const std::string& path, const RecordingLimits& limits);

  std::unique_ptr<File> file_;
};

/// Reads a recording from its first state to its last, including states that are added in the meantime.
class Recording {
 public:
  /// The place after the last state that was read. Another reader of the same recording can continue from it.
  struct Place {
    std::int64_t number = -1;  ///< number of that state; -1: none was read
    std::string stored{};      ///< its bytes in the file, which identify the recording
    std::string text{};        ///< the state as text, against which the next one is compressed
  };

  /// Opens a recording. A file that is not a recording, or that has a newer version, is an input error.
  static Result<Recording> open(const std::string& path);
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  std::int64_t states() const;  ///< number of states in the file when it was opened
  /// Returns the next state; nothing after the last one. A damaged state is an input error that names its number.
  Result<std::optional<SavedState>> next();
  /// Returns the last state that was not read yet; nothing if there is none. It decompresses only the states of the
  /// last run.
  Result<std::optional<SavedState>> newest();
  /// Returns the first state at or after a moment; nothing if the recording ends before it.
  Result<std::optional<SavedState>> first_from(Instant at);

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
