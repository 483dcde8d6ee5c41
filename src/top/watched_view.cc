#include "top/watched_view.h"

#include <algorithm>
#include <utility>

#include "top/lines.h"

namespace capstan::top {
namespace {

/// Lines of a frame that do not scroll, at least.
constexpr std::size_t kFixedLines = 6;

}  // namespace

void WatchedView::press(Key key) {
  const std::size_t page = view_.height > kFixedLines ? view_.height - kFixedLines : 1;
  const auto up = [&](std::size_t lines) { view_.scroll -= std::min(view_.scroll, lines); };
  switch (key) {
    case Key::quit:
      break;
    case Key::pause:
      is_paused_ = !is_paused_;
      break;
    case Key::sort:
      view_.sort = static_cast<NodeOrder>((static_cast<std::size_t>(view_.sort) + 1) % kNodeOrders);
      break;
    case Key::up:
      up(1);
      break;
    case Key::page_up:
      up(page);
      break;
    case Key::home:
      view_.scroll = 0;
      break;
    case Key::down:
      ++view_.scroll;
      break;
    case Key::page_down:
      view_.scroll += page;
      break;
    case Key::end:
      view_.scroll = shown_ ? max_scroll(*shown_, view_) : 0;
      break;
  }
}

std::string WatchedView::lines(Feed::LatestFacts latest, std::size_t width, std::size_t height) {
  if (!is_paused_ || !shown_) shown_ = std::move(latest.facts);
  view_.output.width = width;
  view_.height = height;
  view_.state = is_paused_ ? "paused" : std::move(latest.state);
  view_.notice = std::move(latest.notice);
  if (!shown_) {
    const std::string words = view_.notice.empty() ? view_.source + " · " + view_.state : view_.notice;
    return line({{plain(words)}}, view_.output);
  }
  view_.scroll = std::min(view_.scroll, max_scroll(*shown_, view_));
  return frame(*shown_, view_);
}

}  // namespace capstan::top
