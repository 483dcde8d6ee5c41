#include "kube/wall_clock.h"

#include <chrono>

namespace capstan::kube {

WallClock machine_wall_clock() {
  return [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return WallTime{std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()};
  };
}

}  // namespace capstan::kube
