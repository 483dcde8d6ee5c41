#include "workload/line_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace capstan::workload {
namespace {

constexpr std::size_t kChunk = 128 * 1024;

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)), buffer_(2 * kChunk) {}

bool LineReader::fail(std::size_t column, std::string message) {
  error_ = Error{.file = bytes_->name(),
                 .line = line_number_,
                 .column = static_cast<std::uint32_t>(column),
                 .message = std::move(message)};
  return false;
}

/// Moves the unread bytes to the front and reads one chunk behind them. If the chunk does not fit, the buffer doubles.
/// A line of the largest length needs 2 MiB.
bool LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  end_ -= at_;
  at_ = 0;
  if (buffer_.size() < end_ + kChunk) buffer_.resize(2 * buffer_.size());
  const Result<std::size_t> count = bytes_->read(std::span(buffer_).subspan(end_, kChunk));
  if (!count) {
    error_ = count.error();
    return false;
  }
  end_ += *count;
  at_end_ = *count == 0;
  return true;
}

bool LineReader::take(std::size_t length, std::size_t with_end, std::string_view& line) {
  line = std::string_view(buffer_.data() + at_, length);
  at_ += with_end;
  ++line_number_;
  if (length > kMaxLineBytes) {
    return fail(kMaxLineBytes + 1,
                fmt::format("the line is longer than {} bytes, expected a row of a trace", kMaxLineBytes));
  }
  if (line_number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (const void* nul = std::memchr(line.data(), 0, line.size()); nul != nullptr) {
    return fail(static_cast<std::size_t>(static_cast<const char*>(nul) - line.data()) + 1,
                "found a NUL byte, expected text in UTF-8");
  }
  return true;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes after at_ that were searched for a line end
  while (!error_) {
    const char* from = buffer_.data() + at_ + searched;
    if (const void* found = std::memchr(from, '\n', end_ - at_ - searched); found != nullptr) {
      const std::size_t length = static_cast<std::size_t>(static_cast<const char*>(found) - (buffer_.data() + at_));
      if (!take(length, length + 1, line)) return false;
      if (!line.empty()) return true;
      searched = 0;
      continue;
    }
    searched = end_ - at_;
    if (at_end_) {
      if (searched == 0) return false;
      return take(searched, searched, line) && !line.empty();
    }
    if (searched > kMaxLineBytes) return take(searched, searched, line);
    if (!refill()) return false;
  }
  return false;
}

}  // namespace capstan::workload
