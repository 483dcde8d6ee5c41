#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.h"
#include "base/time.h"

namespace capstan::kube {

/// How long to wait after the n-th failure in a row: doubling, bounded, and jittered between half and all of it, so
/// that clients that failed together do not come back together. The cap is low because there is one client a cluster,
/// and it shall be back within five seconds of a fault's end.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(200);
  static constexpr Duration kCap = std::chrono::seconds(4);

  Duration after_failure(RandomStream& random) {
    const Duration whole = std::min(kCap, kFirst * (std::int64_t{1} << std::min(failures_, 10)));
    failures_ += 1;
    return whole / 2 + Duration(random.between(0, (whole / 2).count()));
  }
  void succeeded() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};

}  // namespace capstan::kube
