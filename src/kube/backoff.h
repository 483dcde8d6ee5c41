#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.h"
#include "base/time.h"

namespace capstan::kube {

/// Exponential backoff. The delay doubles with every consecutive failure, up to a cap. The wait is random, between half
/// of the delay and all of it, so that clients that failed together do not retry together. The cap is low because a
/// cluster has one Capstan client, which should reconnect within five seconds after an outage.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(200);
  static constexpr Duration kCap = std::chrono::seconds(4);

  Duration after_failure(RandomStream& random) {
    const Duration delay = std::min(kCap, kFirst * (std::int64_t{1} << std::min(failures_, 10)));
    failures_ += 1;
    return delay / 2 + Duration(random.between(0, (delay / 2).count()));
  }
  void succeeded() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

}  // namespace capstan::kube
