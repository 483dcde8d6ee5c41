#include "model/bounds_window.h"

#include <algorithm>

namespace capstan::model {

bool BoundsWindow::applies_within(Instant from, Instant to) const {
  const std::int64_t days = std::chrono::ceil<std::chrono::days>(duration + (to - from)).count();
  const std::optional<Instant> begun = start.last(to, days);
  return begun && from < *begun + duration;
}

Bounds bounds_at(Bounds base, const std::vector<BoundsWindow>& windows, Instant now, Duration ahead) {
  Bounds bounds = base;
  for (const BoundsWindow& window : windows) {
    if (window.min && window.applies_within(now, now + ahead)) bounds.min = std::max(bounds.min, *window.min);
    if (window.max && window.applies_within(now, now)) bounds.max = std::min(bounds.max, *window.max);
  }
  bounds.min = std::min(bounds.min, bounds.max);
  return bounds;
}

}  // namespace capstan::model
