#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::emulator {

/// Reads a completion's server-sent events from bytes as they come, cut anywhere, as far as a load test needs them:
/// when tokens come, how many there were, and whether the stream came to its end.
class StreamReader {
 public:
  /// Events that carry a piece of the answer, in these bytes.
  std::int64_t feed(std::string_view bytes);

  /// As the server counted them; where it did not say, the number of pieces.
  std::int64_t tokens() const { return counted_ > 0 ? counted_ : pieces_; }
  bool done() const { return done_; }
  bool failed() const { return failed_; }  ///< an event said that there was an error, or a line has no end

 private:
  void take_line(std::string_view line);

  std::string line_;
  std::int64_t pieces_ = 0;
  std::int64_t counted_ = 0;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace capstan::emulator
