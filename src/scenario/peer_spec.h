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
  std::function<std::unique_ptr<peers::Autoscaler>()> make;  ///< a new one for each run
  std::map<std::string, std::string> labels;                 ///< labels on every series, as its queries expect them
  std::optional<Duration> scrape_interval;                   ///< its own interval for reading metrics, if it has one
};

}  // namespace capstan::scenario
