#include "workload/byte_stream.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace capstan::workload {
namespace {

constexpr std::size_t kRawChunk = 64 * 1024;
constexpr std::size_t kMagicBytes = 4;
constexpr int kZstdWindowLogMax = 27;  // 128 MiB, the limit of `zstd` without --long

Error stream_error(const std::string& name, std::string message) {
  return {.file = name, .message = std::move(message)};
}

/// The bytes of a file or of memory, not decompressed.
class RawBytes {
 public:
  virtual ~RawBytes() = default;
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  virtual double progress() const = 0;
};

class RawFile final : public RawBytes {
 public:
  RawFile(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {
    std::setvbuf(file_, nullptr, _IONBF, 0);  // no buffer, because ChunkedStream reads whole chunks
    struct stat status{};
    if (fstat(fileno(file_), &status) == 0 && S_ISREG(status.st_mode)) size_ = static_cast<double>(status.st_size);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() override { std::fclose(file_); }

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::fread(out.data(), 1, out.size(), file_);
    if (count < out.size() && std::ferror(file_) != 0) {
      return std::unexpected(stream_error(name_, fmt::format("cannot be read: {}", std::strerror(errno))));
    }
    taken_ += static_cast<double>(count);
    return count;
  }
  double progress() const override { return size_ > 0 ? taken_ / size_ : 0; }

 private:
  std::FILE* file_;
  std::string name_;
  double size_ = 0;
  double taken_ = 0;
};

class RawMemory final : public RawBytes {
 public:
  explicit RawMemory(std::string_view bytes) : bytes_(bytes) {}

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::min(out.size(), bytes_.size() - taken_);
    std::copy_n(bytes_.data() + taken_, count, out.data());
    taken_ += count;
    return count;
  }
  double progress() const override {
    return bytes_.empty() ? 0 : static_cast<double>(taken_) / static_cast<double>(bytes_.size());
  }

 private:
  std::string_view bytes_;
  std::size_t taken_ = 0;
};

/// A stream that reads raw bytes in chunks. The bytes [at_, end_) of the chunk are not used yet.
class ChunkedStream : public ByteStream {
 public:
  ChunkedStream(std::unique_ptr<RawBytes> raw, std::string name, std::vector<char> chunk, std::size_t filled)
      : ByteStream(std::move(name)), raw_(std::move(raw)), chunk_(std::move(chunk)), end_(filled) {}

  double progress() const override { return raw_->progress(); }

 protected:
  /// Reads a chunk if no unused bytes are left. Returns false at the end of the file.
  Result<bool> refill() {
    if (at_ < end_) return true;
    const Result<std::size_t> count = raw_->read(chunk_);
    if (!count) return std::unexpected(count.error());
    at_ = 0;
    end_ = *count;
    return end_ > 0;
  }

  std::unique_ptr<RawBytes> raw_;
  std::vector<char> chunk_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

class PlainStream final : public ChunkedStream {
 public:
  using ChunkedStream::ChunkedStream;

  Result<std::size_t> read(std::span<char> out) override {
    if (at_ == end_) return raw_->read(out);
    const std::size_t count = std::min(out.size(), end_ - at_);
    std::copy_n(chunk_.data() + at_, count, out.data());
    at_ += count;
    return count;
  }
};

class GzipStream final : public ChunkedStream {
 public:
  using ChunkedStream::ChunkedStream;
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override {
    if (ready_) inflateEnd(&inflate_);
  }

  Result<std::size_t> read(std::span<char> out) override {
    if (!ready_) {
      if (inflateInit2(&inflate_, 16 + MAX_WBITS) != Z_OK)
        return std::unexpected(stream_error(name(), "no memory for gzip"));
      ready_ = true;
    }
    std::size_t written = 0;
    while (written == 0) {
      const Result<bool> more = refill();
      if (!more) return std::unexpected(more.error());
      if (!*more) {
        if (in_member_) return std::unexpected(stream_error(name(), "the gzip data ends early, expected a whole file"));
        return 0;
      }
      if (!in_member_) {
        if (inflateReset(&inflate_) != Z_OK) return std::unexpected(stream_error(name(), "no memory for gzip"));
        in_member_ = true;
      }
      inflate_.next_in = reinterpret_cast<Bytef*>(chunk_.data() + at_);
      inflate_.avail_in = static_cast<uInt>(end_ - at_);
      inflate_.next_out = reinterpret_cast<Bytef*>(out.data());
      inflate_.avail_out = static_cast<uInt>(out.size());
      const int status = inflate(&inflate_, Z_NO_FLUSH);
      at_ = end_ - inflate_.avail_in;
      written = out.size() - inflate_.avail_out;
      if (status == Z_STREAM_END) {
        in_member_ = false;  // another member may follow, as in the output of `cat a.gz b.gz`
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return std::unexpected(stream_error(name(), "the gzip data is damaged, expected a valid file"));
      }
    }
    return written;
  }

 private:
  z_stream inflate_{};
  bool ready_ = false;
  bool in_member_ = false;
};

class ZstdStream final : public ChunkedStream {
 public:
  using ChunkedStream::ChunkedStream;
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> read(std::span<char> out) override {
    if (context_ == nullptr) {
      context_ = ZSTD_createDCtx();
      if (context_ == nullptr) return std::unexpected(stream_error(name(), "no memory for zstd"));
      ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindowLogMax);
    }
    ZSTD_outBuffer written{out.data(), out.size(), 0};
    while (written.pos == 0) {
      // If the output buffer was full, zstd may still hold decompressed bytes. They come before further input.
      if (!pending_) {
        const Result<bool> more = refill();
        if (!more) return std::unexpected(more.error());
        if (!*more) {
          if (in_frame_)
            return std::unexpected(stream_error(name(), "the zstd data ends early, expected a whole file"));
          return 0;
        }
      }
      ZSTD_inBuffer input{chunk_.data(), end_, at_};
      const std::size_t status = ZSTD_decompressStream(context_, &written, &input);
      at_ = input.pos;
      if (ZSTD_isError(status) != 0) {
        return std::unexpected(stream_error(
            name(), fmt::format("the zstd data is damaged ({}), expected a valid file", ZSTD_getErrorName(status))));
      }
      in_frame_ = status != 0;
      pending_ = in_frame_ && written.pos == written.size;
    }
    return written.pos;
  }

 private:
  ZSTD_DCtx* context_ = nullptr;
  bool in_frame_ = false;
  bool pending_ = false;
};

Result<std::unique_ptr<ByteStream>> open_raw(std::unique_ptr<RawBytes> raw, std::string name) {
  std::vector<char> chunk(kRawChunk);
  std::size_t filled = 0;
  while (filled < kMagicBytes) {  // a pipe may deliver the magic bytes in pieces
    const Result<std::size_t> count = raw->read(std::span(chunk).subspan(filled));
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  const std::string_view start(chunk.data(), std::min(filled, kMagicBytes));
  if (start.starts_with("\x1f\x8b")) {
    return std::make_unique<GzipStream>(std::move(raw), std::move(name), std::move(chunk), filled);
  }
  if (start == "\x28\xb5\x2f\xfd") {
    return std::make_unique<ZstdStream>(std::move(raw), std::move(name), std::move(chunk), filled);
  }
  return std::make_unique<PlainStream>(std::move(raw), std::move(name), std::move(chunk), filled);
}

}  // namespace

Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return std::unexpected(stream_error(path, fmt::format("cannot be opened: {}", std::strerror(errno))));
  }
  return open_raw(std::make_unique<RawFile>(file, path), path);
}

Result<std::unique_ptr<ByteStream>> open_bytes_in_memory(std::string_view bytes, std::string name) {
  return open_raw(std::make_unique<RawMemory>(bytes), std::move(name));
}

}  // namespace capstan::workload
