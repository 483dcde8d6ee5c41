#include "serve/packed.h"

#include <zlib.h>

#include <cstdint>

#include "base/assert.h"

namespace capstan::serve {
namespace {

constexpr int kGzipWindow = 15 + 16;  ///< zlib windowBits: 15 is the largest window, and 16 more selects gzip
constexpr int kLevel = 6;
constexpr int kMemory = 9;

std::string compressed(std::string_view bytes) {
  z_stream stream{};
  const int begun = deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY);
  CAPSTAN_ASSERT(begun == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  CAPSTAN_ASSERT(ended == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string packed(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string all = compressed(bytes);
  std::string text;
  text.reserve((all.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < all.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = at; i < at + 3; ++i) {
      three = three << 8 | (i < all.size() ? static_cast<unsigned char>(all[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += at + i <= all.size() ? kDigits[(three >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return text;
}

}  // namespace capstan::serve
