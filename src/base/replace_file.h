#pragma once

#include <string>

#include "base/error.h"

namespace capstan {

/// Replaces the bytes of a file, or creates it. A reader sees the old file or the new one, never a part. A symbolic
/// link stays a link, and the file that it leads to is replaced. Owner, group and mode stay the same. If they
/// cannot be preserved, or the file may not be written, returns an error and leaves the file unchanged.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace capstan
