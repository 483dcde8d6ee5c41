#include "net/monotonic.h"

namespace capstan::net {

Clock machine_clock() {
  return [] { return Instant{std::chrono::steady_clock::now().time_since_epoch()}; };
}

}  // namespace capstan::net
