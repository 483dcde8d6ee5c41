#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

namespace capstan {

/// Why a file could not be had whole. The caller says what it expected there.
enum class FileFault : std::uint8_t { cannot_open, cannot_read, too_large };

/// The bytes of a file, at most `most` of them: a larger one is not read to its end.
std::expected<std::string, FileFault> read_file(const std::string& path, std::size_t most);

}  // namespace capstan
