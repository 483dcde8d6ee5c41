#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "peers/autoscaler.h"

namespace capstan::scenario {

/// A peer autoscaler that scales in place of a policy of Capstan.
struct PeerSpec {
  std::function<std::unique_ptr<peers::Autoscaler>()> make;  ///< creates a new instance for each run
  std::map<std::string, std::string> labels;                 ///< labels on every series, as its queries expect them
  /// Interval at which the peer reads metrics, if it has its own.
  std::optional<Duration> scrape_interval;
};

}  // namespace capstan::scenario
