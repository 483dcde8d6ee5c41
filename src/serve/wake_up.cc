#include "serve/wake_up.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/assert.h"

namespace capstan::serve {

WakeUp::WakeUp() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CAPSTAN_ASSERT(fd_ >= 0); }

WakeUp::~WakeUp() { ::close(fd_); }

void WakeUp::set() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);  // fails only if fd_ is readable already
}

void WakeUp::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
}

}  // namespace capstan::serve
