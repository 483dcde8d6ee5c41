#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

// Examines the file of a recording, and moves it out of the way if it cannot be continued.
namespace capstan::archive {

/// Identifies the file: `file FILE` and other programs show it as an SQLite database with this application id.
inline constexpr std::int64_t kRecordingApplication = 0x43617073;  // "Caps"
/// Version 2 added the layers that decided: in a recording of version 1, all layers decided in every state. Version 3
/// added the outcomes of actions.
inline constexpr std::int64_t kRecordingVersion = 3;

/// The content of a file that may be a recording.
enum class FileContent : std::uint8_t {
  absent,      ///< no file, or an empty one
  recording,   ///< a recording that this program can read
  newer,       ///< a recording of a later version
  damaged,     ///< a recording that was cut or overwritten
  foreign,     ///< another kind of file
  unreadable,  ///< unknown, because the file cannot be opened or read at the moment
};

struct ExaminedFile {
  FileContent content{};
  std::string fault{};  ///< what is wrong with it; empty for absent files and readable recordings
};

/// Examines the head of a file. A recording with damage further inside counts as readable.
ExaminedFile examine(const std::string& path);

/// Largest number of files of one recording that set_aside() keeps.
inline constexpr int kMaxSetAside = 3;

/// Moves a recording to FILE.set-aside-1, or to the next free number. If all numbers are taken, it replaces the last
/// one. Returns the new name. The recording must be closed.
Result<std::string> set_aside(const std::string& path);

}  // namespace capstan::archive
