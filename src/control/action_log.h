#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"
#include "model/plan.h"

namespace capstan::control {

/// One submitted action.
struct LoggedAction {
  enum class Layer : std::uint8_t { scale, place, provision };
  std::uint64_t number = 0;
  Instant at;
  Layer layer{};
  model::Action action;
};

/// The most recent submitted actions, oldest first.
class ActionLog {
 public:
  static constexpr std::size_t kMax = 10'000;

  void add(Instant at, LoggedAction::Layer layer, const model::Action& action) {
    if (entries_.size() == kMax) entries_.pop_front();
    entries_.push_back({count_++, at, layer, action});
  }
  const std::deque<LoggedAction>& entries() const { return entries_; }
  std::uint64_t count() const { return count_; }  ///< actions since the start, dropped entries included

 private:
  std::deque<LoggedAction> entries_;
  std::uint64_t count_ = 0;
};

}  // namespace capstan::control
