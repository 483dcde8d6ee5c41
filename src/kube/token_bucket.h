#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace capstan::kube {

/// Lets `per_second` pass, and `burst` at once after a pause (generic cell rate algorithm: one moment is all its
/// state).
class TokenBucket {
 public:
  TokenBucket(std::int64_t per_second, std::int64_t burst)
      : interval_(Duration(std::chrono::seconds(1)) / per_second), tolerance_(interval_ * (burst - 1)) {}

  /// When the next one may pass.
  Instant next() const { return full_at_ - tolerance_; }
  bool take(Instant now) {
    if (now < next()) return false;
    full_at_ = std::max(full_at_, now) + interval_;
    return true;
  }

 private:
  Duration interval_;
  Duration tolerance_;
  Instant full_at_{};  // the moment at which nothing is owed any more
};

}  // namespace capstan::kube
