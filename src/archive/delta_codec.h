#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

// Texts that resemble each other, each compressed with zstd against the one before.
namespace capstan::archive {

/// The largest text that is decompressed. It bounds what a damaged file can allocate.
inline constexpr std::size_t kTextBytesMost = std::size_t{512} << 20;

/// Compresses a text. `before` is the text that the reader will have; it may be empty.
std::string compress_after(std::string_view before, std::string_view text);
/// Returns the text again. Bytes that compress_after did not write give an error without a place.
Result<std::string> decompress_after(std::string_view before, std::string_view bytes);

}  // namespace capstan::archive
