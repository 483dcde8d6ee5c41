#pragma once

#include <string>

#include "base/error.h"

namespace capstan {

/// Replaces the bytes of a file, or creates it. A reader sees the old file or the new one, never a part. A symbolic
/// link stays a link, and the file that it leads to is replaced. Owner, group and mode stay the same. If they
/// cannot be preserved, or the file may not be written, returns an error and leaves the file unchanged.
Result<void> replace_file(const std::string& path, const std::string& text);

/// Returns an error if `replace_file` could not write the file: it is no regular file, it may not be written, or its
/// folder does not exist or may not be written. Changes nothing.
Result<void> check_replaceable(const std::string& path);

}  // namespace capstan
