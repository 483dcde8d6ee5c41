#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// A phrase that makes a sentence hard to read, and what to write instead (CONTRIBUTING.md, "Plain English").
struct Habit {
  const char* phrase;   ///< lower case; found as whole words, in any case
  const char* instead;  ///< text to write instead; the message ends with it
};

const std::vector<Habit>& habits();

/// Returns the folders and files that tests/tree/unread.txt lists: their English was not reviewed yet. The list may
/// only become shorter (tests/only_shorter.py).
std::vector<std::string> parse_unread(std::string_view text);

/// Returns true if the file lies in one of the folders, or is one of the files.
bool is_unread(const Source& source, const std::vector<std::string>& unread);

/// Returns the habits in the comments, strings and text of one file, and the comments that begin without a subject.
std::vector<Finding> check_prose(const Source& source);

}  // namespace capstan::tree
