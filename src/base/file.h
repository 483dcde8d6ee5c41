#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

namespace capstan {

/// The reason why a file could not be read completely. The caller writes the error message.
enum class FileFault : std::uint8_t { cannot_open, cannot_read, too_large };

/// Reads a file of at most `max_bytes`; a larger file is an error and is not read to its end.
std::expected<std::string, FileFault> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace capstan
