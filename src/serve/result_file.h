#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::serve {

/// The kind of a file, by its first bytes.
enum class FileKind : std::uint8_t { scenario, result, recording, page };

FileKind kind_of_file(std::string_view bytes);
/// Returns the kind of the file at a path. A file that cannot be read counts as a scenario, whose reader says why.
FileKind kind_of_path(const std::string& path);

/// Checks that a text is a result that `sim` or `compare` wrote with `-o json`. The page checks its fields.
/// @param path  for errors
Result<void> check_result(std::string_view text, const std::string& path);

}  // namespace capstan::serve
