#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::workload {

/// The bytes of a file in order, decompressed on the way where its first bytes say gzip or zstd. Never holds more than
/// fixed buffers (and zstd's window, at most 128 MiB), whatever a small file may unpack to.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Fills `out` from its front; 0 only at the end. An error names the file, never a line: it is below lines.
  virtual Result<std::size_t> read(std::span<char> out) = 0;

  /// Part of the file's own (compressed) bytes taken so far, 0 to 1; 0 where its size is not known.
  virtual double progress() const = 0;

  const std::string& name() const { return name_; }

 protected:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// Opens a file (or a pipe) and looks at its first bytes.
Result<std::unique_ptr<ByteStream>> open_bytes(const std::string& path);

/// The same over bytes in memory, which must outlive the stream; `name` is what errors call it.
Result<std::unique_ptr<ByteStream>> open_bytes_in_memory(std::string_view bytes, std::string name);

}  // namespace capstan::workload
