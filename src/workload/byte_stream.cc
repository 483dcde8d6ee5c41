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
constexpr int kZstdWindowLogMax = 27;  // 128 MiB: what `zstd` itself accepts without --long

Error broken(const std::string& name, std::string message) { return {.file = name, .message = std::move(message)}; }

/// Bytes as they lie on disk or in memory.
class Raw {
 public:
  virtual ~Raw() = default;
  virtual Result<std::size_t> read(std::span<char> out) = 0;
  virtual double progress() const = 0;
};

class RawFile final : public Raw {
 public:
  RawFile(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {
    std::setvbuf(file_, nullptr, _IONBF, 0);  // the chunks above it are the buffer
    struct stat status{};
    if (fstat(fileno(file_), &status) == 0 && S_ISREG(status.st_mode)) size_ = static_cast<double>(status.st_size);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() override { std::fclose(file_); }

  Result<std::size_t> read(std::span<char> out) override {
    const std::size_t count = std::fread(out.data(), 1, out.size(), file_);
    if (count < out.size() && std::ferror(file_) != 0) {
      return std::unexpected(broken(name_, fmt::format("cannot be read: {}", std::strerror(errno))));
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

class RawMemory final : public Raw {
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

/// What every kind of stream needs: a chunk of raw bytes, of which [at, end) are not used yet.
class Chunked : public ByteStream {
 public:
  Chunked(std::unique_ptr<Raw> raw, std::string name, std::vector<char> chunk, std::size_t filled)
      : ByteStream(std::move(name)), raw_(std::move(raw)), chunk_(std::move(chunk)), end_(filled) {}

  double progress() const override { return raw_->progress(); }

 protected:
  /// Makes sure that unused bytes are at hand; false at the end of the file.
  Result<bool> refill() {
    if (at_ < end_) return true;
    const Result<std::size_t> count = raw_->read(chunk_);
    if (!count) return std::unexpected(count.error());
    at_ = 0;
    end_ = *count;
    return end_ > 0;
  }

  std::unique_ptr<Raw> raw_;
  std::vector<char> chunk_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

class PlainStream final : public Chunked {
 public:
  using Chunked::Chunked;

  Result<std::size_t> read(std::span<char> out) override {
    if (at_ == end_) return raw_->read(out);
    const std::size_t count = std::min(out.size(), end_ - at_);
    std::copy_n(chunk_.data() + at_, count, out.data());
    at_ += count;
    return count;
  }
};

class GzipStream final : public Chunked {
 public:
  using Chunked::Chunked;
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override {
    if (ready_) inflateEnd(&inflate_);
  }

  Result<std::size_t> read(std::span<char> out) override {
    if (!ready_) {
      if (inflateInit2(&inflate_, 16 + MAX_WBITS) != Z_OK) return std::unexpected(broken(name(), "no memory for gzip"));
      ready_ = true;
    }
    std::size_t made = 0;
    while (made == 0) {
      const Result<bool> more = refill();
      if (!more) return std::unexpected(more.error());
      if (!*more) {
        if (inside_) return std::unexpected(broken(name(), "the gzip data ends early, expected a whole file"));
        return 0;
      }
      if (!inside_) {
        if (inflateReset(&inflate_) != Z_OK) return std::unexpected(broken(name(), "no memory for gzip"));
        inside_ = true;
      }
      inflate_.next_in = reinterpret_cast<Bytef*>(chunk_.data() + at_);
      inflate_.avail_in = static_cast<uInt>(end_ - at_);
      inflate_.next_out = reinterpret_cast<Bytef*>(out.data());
      inflate_.avail_out = static_cast<uInt>(out.size());
      const int status = inflate(&inflate_, Z_NO_FLUSH);
      at_ = end_ - inflate_.avail_in;
      made = out.size() - inflate_.avail_out;
      if (status == Z_STREAM_END) {
        inside_ = false;  // another member may follow, as `cat a.gz b.gz` makes
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return std::unexpected(broken(name(), "the gzip data is damaged, expected a valid file"));
      }
    }
    return made;
  }

 private:
  z_stream inflate_{};
  bool ready_ = false;
  bool inside_ = false;
};

class ZstdStream final : public Chunked {
 public:
  using Chunked::Chunked;
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;
  ~ZstdStream() override { ZSTD_freeDCtx(context_); }

  Result<std::size_t> read(std::span<char> out) override {
    if (context_ == nullptr) {
      context_ = ZSTD_createDCtx();
      if (context_ == nullptr) return std::unexpected(broken(name(), "no memory for zstd"));
      ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, kZstdWindowLogMax);
    }
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    while (made.pos == 0) {
      // A full output buffer may have left decompressed bytes inside: ask for those before looking for more input.
      if (!pending_) {
        const Result<bool> more = refill();
        if (!more) return std::unexpected(more.error());
        if (!*more) {
          if (inside_) return std::unexpected(broken(name(), "the zstd data ends early, expected a whole file"));
          return 0;
        }
      }
      ZSTD_inBuffer input{chunk_.data(), end_, at_};
      const std::size_t status = ZSTD_decompressStream(context_, &made, &input);
      at_ = input.pos;
      if (ZSTD_isError(status) != 0) {
        return std::unexpected(broken(
            name(), fmt::format("the zstd data is damaged ({}), expected a valid file", ZSTD_getErrorName(status))));
      }
      inside_ = status != 0;
      pending_ = inside_ && made.pos == made.size;
    }
    return made.pos;
  }

 private:
  ZSTD_DCtx* context_ = nullptr;
  bool inside_ = false;
  bool pending_ = false;
};

Result<std::unique_ptr<ByteStream>> open_raw(std::unique_ptr<Raw> raw, std::string name) {
  std::vector<char> chunk(kRawChunk);
  std::size_t filled = 0;
  while (filled < kMagicBytes) {  // a pipe may give the magic in pieces
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
    return std::unexpected(broken(path, fmt::format("cannot be opened: {}", std::strerror(errno))));
  }
  return open_raw(std::make_unique<RawFile>(file, path), path);
}

Result<std::unique_ptr<ByteStream>> open_bytes_in_memory(std::string_view bytes, std::string name) {
  return open_raw(std::make_unique<RawMemory>(bytes), std::move(name));
}

}  // namespace capstan::workload
