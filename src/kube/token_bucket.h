#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace capstan::kube {

/// Rate limiter: allows `per_second` requests, and after a pause up to `burst` requests at once. The generic cell rate
/// algorithm needs only one time as its state.
class TokenBucket {
 public:
  TokenBucket(std::int64_t per_second, std::int64_t burst)
      : interval_(Duration(std::chrono::seconds(1)) / per_second), tolerance_(interval_ * (burst - 1)) {}

  /// Returns the time at which the next request is allowed.
  Instant next() const { return full_at_ - tolerance_; }
  bool take(Instant now) {
    if (now < next()) return false;
    full_at_ = std::max(full_at_, now) + interval_;
    return true;
  }

 private:
  Duration interval_;
  Duration tolerance_;
  Instant full_at_{};  // time at which the bucket is full again
};

}  // namespace capstan::kube
