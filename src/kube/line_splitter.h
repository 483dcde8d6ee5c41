#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace capstan::kube {

/// Cuts a watch's stream into its lines, one event each, wherever the pieces of the stream were cut. A line larger than
/// the bound ends the stream: what follows it would have lost an event.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  /// Calls `visit(std::string_view line)` for each line that `piece` completes, without its end; empty ones are left
  /// out. `visit` says whether to go on.
  /// @return false once a line was too large; nothing is accepted any more
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
      if (!hand_out(part, visit)) break;
    }
    return !overflowed_;
  }

  /// Bytes of a line whose end has not come.
  std::size_t pending() const { return partial_.size(); }

 private:
  template <typename Visit>
  bool hand_out(std::string_view part, Visit& visit) {
    if (partial_.empty()) return part.empty() || visit(part);  // most lines come whole: not copied
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
