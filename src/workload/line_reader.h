#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "workload/byte_stream.h"

namespace capstan::workload {

/// Upper limit of a line. No row of a trace is longer, and a longer line must not fill the memory.
inline constexpr std::size_t kMaxLineBytes = 1 << 20;

/// Reads the lines of a stream without their line ends (LF or CR LF) and without a leading byte order mark. A NUL byte,
/// a line that is too long and a stream that ends early are errors.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteStream> bytes);

  /// Reads the next line that is not empty; it is valid until the next call. Returns false at the end and after an
  /// error.
  bool next(std::string_view& line);

  std::uint32_t line_number() const { return line_number_; }  ///< number of the last line, from 1
  const std::optional<Error>& error() const { return error_; }
  double progress() const { return bytes_->progress(); }

  /// Reports an error at byte `column` (from 1) of the last line and ends the stream. Returns false.
  bool fail(std::size_t column, std::string message);

 private:
  bool refill();
  bool take(std::size_t length, std::size_t with_end, std::string_view& line);

  std::unique_ptr<ByteStream> bytes_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;   ///< first byte that was not returned yet
  std::size_t end_ = 0;  ///< end of the filled bytes
  std::uint32_t line_number_ = 0;
  bool at_end_ = false;
  std::optional<Error> error_;
};

}  // namespace capstan::workload
