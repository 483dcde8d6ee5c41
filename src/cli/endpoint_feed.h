#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cli/engine_options.h"

namespace capstan::cli {

/// Where a load goes while that may change: the ready addresses of a Kubernetes Service, or a list of addresses.
class EndpointFeed {
 public:
  static constexpr Duration kPoll = std::chrono::milliseconds(20);  ///< how soon a change is heard of
  static constexpr Duration kFirstMax = std::chrono::seconds(30);

  virtual ~EndpointFeed() = default;
  /// Waits for the first addresses, at most `kFirstMax`; base URLs, sorted.
  virtual Result<std::vector<std::string>> first() = 0;
  /// The addresses, where they have changed. What is wrong with them is reported and ends no load.
  virtual std::optional<std::vector<std::string>> look() = 0;
};

/// What the arguments name; null where they give endpoints that stay.
Result<std::unique_ptr<EndpointFeed>> open_endpoint_feed(const EngineLoadArguments& arguments);

}  // namespace capstan::cli
