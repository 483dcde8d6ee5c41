#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "serve/wake_up.h"
#include "top/facts.h"

namespace capstan::top {

/// Passes the latest facts from the thread that collects them to the thread that displays them. New facts replace facts
/// that were not displayed yet.
class Feed {
 public:
  struct LatestFacts {
    std::shared_ptr<const Facts> facts{};  ///< null until the first facts arrive
    std::string state{};                   ///< for `View::state`
    std::string notice{};                  ///< for `View::notice`
  };

  void show(Facts facts);
  void set_state(std::string state);
  void set_notice(std::string notice);

  LatestFacts latest();
  /// Returns a descriptor that is readable if something has changed since the last call of latest().
  int poll_fd() const { return wake_.fd(); }

 private:
  std::mutex mutex_;
  LatestFacts latest_;
  serve::WakeUp wake_;
};

}  // namespace capstan::top
