#pragma once

#include <string>

#include "base/error.h"

namespace capstan::cli {

/// Replaces the bytes of a file, or creates it. A reader sees the old file or the new one, never a part. A symbolic
/// link stays a link, and the file that it leads to is replaced. Owner, group and mode stay as they are; where they
/// cannot be kept, or the file may not be written, the result is an error and the file is untouched.
Result<void> replace_file(const std::string& path, const std::string& text);

}  // namespace capstan::cli
