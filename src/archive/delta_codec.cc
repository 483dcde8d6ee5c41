#include "archive/delta_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "base/assert.h"

namespace capstan::archive {
namespace {

constexpr int kLevel = 3;
constexpr int kMinWindowLog = 17;
constexpr int kMaxWindowLog = 31;  // zstd's limit on 64-bit machines

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Error damaged(const std::string& what) { return {.file = {}, .message = "the compressed state is damaged: " + what}; }

}  // namespace

std::string compress_after(std::string_view before, std::string_view text) {
  const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  CAPSTAN_ASSERT(context != nullptr);
  // The window must cover both texts, so that the end of the new one can refer to the beginning of the earlier one.
  const int window =
      std::clamp(static_cast<int>(std::bit_width(before.size() + text.size())), kMinWindowLog, kMaxWindowLog);
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    CAPSTAN_ASSERT(!ZSTD_isError(ZSTD_CCtx_setParameter(context.get(), parameter, value)));
  };
  set(ZSTD_c_compressionLevel, kLevel);
  set(ZSTD_c_windowLog, window);
  set(ZSTD_c_enableLongDistanceMatching, 1);
  set(ZSTD_c_checksumFlag, 1);
  CAPSTAN_ASSERT(!ZSTD_isError(ZSTD_CCtx_refPrefix(context.get(), before.data(), before.size())));
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), bytes.data(), bytes.size(), text.data(), text.size());
  CAPSTAN_ASSERT(!ZSTD_isError(size));
  bytes.resize(size);
  return bytes;
}

Result<std::string> decompress_after(std::string_view before, std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return std::unexpected(damaged("it states no size"));
  }
  if (size > kMaxTextBytes) {
    return std::unexpected(damaged(fmt::format("it states {} bytes, expected at most {}", size, kMaxTextBytes)));
  }
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  CAPSTAN_ASSERT(context != nullptr);
  CAPSTAN_ASSERT(!ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog)));
  CAPSTAN_ASSERT(!ZSTD_isError(ZSTD_DCtx_refPrefix(context.get(), before.data(), before.size())));
  // The operating system provides memory only when it is written. So a size that is wrong in a damaged file costs
  // nothing.
  std::string text;
  std::size_t written = 0;
  text.resize_and_overwrite(size, [&](char* out, std::size_t room) {
    written = ZSTD_decompressDCtx(context.get(), out, room, bytes.data(), bytes.size());
    return ZSTD_isError(written) ? 0 : written;
  });
  if (ZSTD_isError(written)) return std::unexpected(damaged(ZSTD_getErrorName(written)));
  if (written != size) return std::unexpected(damaged("it ends early"));
  return text;
}

}  // namespace capstan::archive
