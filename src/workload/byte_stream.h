#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::workload {

/// The bytes of a file in order, decompressed if the first bytes are those of gzip or zstd. The memory is limited to
/// fixed buffers and zstd's window (at most 128 MiB), however large the decompressed data is.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Fills `out` from its front and returns the number of bytes; 0 only at the end. An error names the file but no
  /// line, because a byte stream does not know lines.
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  /// Returns the share of the file's (compressed) bytes read so far, 0 to 1; 0 if the size is not known.
  virtual double progress() const = 0;

  const std::string& name() const { return name_; }

 protected:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// Opens a file or a pipe and detects the compression from the first bytes.
Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& path);

/// Opens bytes in memory, which must outlive the stream; errors call the stream `name`.
Result<std::unique_ptr<ByteStream>> open_bytes_in_memory(std::string_view bytes, std::string name);

}  // namespace capstan::workload
