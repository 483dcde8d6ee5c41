#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "cli/engine_options.h"

namespace capstan::cli {

/// The endpoints of a load that may change while it runs: the ready addresses of a Kubernetes Service, or a list.
class EndpointFeed {
 public:
  static constexpr Duration kPollInterval = std::chrono::milliseconds(20);
  static constexpr Duration kFirstMax = std::chrono::seconds(30);  ///< longest wait for the first addresses

  virtual ~EndpointFeed() = default;
  /// Waits until the endpoints are known, at most `kFirstMax`. Returns sorted base URLs, perhaps none.
  virtual Result<std::vector<std::string>> first() = 0;
  /// Returns the base URLs if they have changed. An error, such as an invalid list, is reported on standard error, and
  /// the load continues with the old URLs.
  virtual std::optional<std::vector<std::string>> poll_changes() = 0;
};

/// Opens the feed that the arguments name. Returns null if their endpoints are fixed.
Result<std::unique_ptr<EndpointFeed>> open_endpoint_feed(const EngineLoadArguments& arguments);

}  // namespace capstan::cli
