#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace capstan::kube {

/// Splits the stream of a watch into lines, one event each, independent of how the stream is cut into pieces. A line
/// above the limit ends the stream, because skipping it would lose an event.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Calls `visit(std::string_view line)` for each line that `piece` completes, without the line feed. Empty lines are
  /// left out. `visit` returns false to stop.
  /// @return false after a line above the limit; nothing is accepted any more
  template <typename Visit>
  bool take(std::string_view piece, Visit&& visit) {
    while (!overflowed_ && !piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (partial_.size() + part.size() > line_bytes_max_) {
        overflowed_ = true;
        partial_ = {};
        break;
      }
      if (end == piece.npos) {
        partial_ += part;
        break;
      }
      piece.remove_prefix(end + 1);
      if (!complete_line(part, visit)) break;
    }
    return !overflowed_;
  }

  /// Returns the bytes of the unfinished line.
  std::size_t pending() const { return partial_.size(); }

 private:
  template <typename Visit>
  bool complete_line(std::string_view part, Visit& visit) {
    if (partial_.empty()) return part.empty() || visit(part);  // most lines arrive in one piece and need no copy
    partial_ += part;
    const std::string line = std::move(partial_);
    partial_.clear();
    return visit(std::string_view(line));
  }

  std::size_t line_bytes_max_;
  std::string partial_;
  bool overflowed_ = false;
};

}  // namespace capstan::kube
