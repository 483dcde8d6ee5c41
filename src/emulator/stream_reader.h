#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::emulator {

/// Reads the server-sent events of a completion. The bytes may be split anywhere. Reads only what a load test needs:
/// when tokens arrive, how many there are, and whether the stream is complete.
class StreamReader {
 public:
  /// Takes the next bytes and returns the number of events in them that carry a piece of the answer.
  std::int64_t feed(std::string_view bytes);

  /// Returns the number of tokens that the server reported; if it reported none, the number of pieces.
  std::int64_t tokens() const { return reported_ > 0 ? reported_ : pieces_; }
  bool done() const { return done_; }
  bool failed() const { return failed_; }  ///< true if an event reported an error or a line is too long

 private:
  void read_line(std::string_view line);

  std::string line_;
  std::int64_t pieces_ = 0;
  std::int64_t reported_ = 0;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace capstan::emulator
