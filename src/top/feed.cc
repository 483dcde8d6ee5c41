#include "top/feed.h"

#include <utility>

namespace capstan::top {

void Feed::show(Facts facts) {
  auto shared = std::make_shared<const Facts>(std::move(facts));
  const std::lock_guard lock(mutex_);
  latest_.facts = std::move(shared);
  wake_.set();
}

void Feed::set_state(std::string state) {
  const std::lock_guard lock(mutex_);
  latest_.state = std::move(state);
  wake_.set();
}

void Feed::set_notice(std::string notice) {
  const std::lock_guard lock(mutex_);
  latest_.notice = std::move(notice);
  wake_.set();
}

Feed::LatestFacts Feed::latest() {
  const std::lock_guard lock(mutex_);
  wake_.clear();
  return latest_;
}

}  // namespace capstan::top
