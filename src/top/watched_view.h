#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "top/feed.h"
#include "top/frame.h"

namespace capstan::top {

/// The keys to which the view of a watched feed reacts. `quit` is for the caller.
enum class Key : std::uint8_t { quit, pause, sort, up, down, page_up, page_down, home, end };

/// The view that a terminal shows of a feed while its user presses keys.
class WatchedView {
 public:
  explicit WatchedView(View view) : view_(std::move(view)) {}

  /// Changes the view. While it is paused, it keeps the facts that it shows.
  void press(Key key);
  /// Returns the lines for a terminal of this size. Before there are facts, this is one line with the state of the feed
  /// or its fault.
  std::string lines(Feed::LatestFacts latest, std::size_t width, std::size_t height);

 private:
  View view_;
  std::shared_ptr<const Facts> shown_;
  bool is_paused_ = false;
};

}  // namespace capstan::top
