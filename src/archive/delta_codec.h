#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

// Compresses a series of similar texts with zstd, each against the one before.
namespace capstan::archive {

/// Largest size of a text that is decompressed. It bounds the memory that reading a damaged file can allocate.
inline constexpr std::size_t kMaxTextBytes = std::size_t{512} << 20;

/// Compresses a text. `before` is the previous text of the series, which the reader has too. It may be empty.
std::string compress_after(std::string_view before, std::string_view text);
/// Decompresses what compress_after has written. Any other bytes give an error without file and line.
Result<std::string> decompress_after(std::string_view before, std::string_view bytes);

}  // namespace capstan::archive
