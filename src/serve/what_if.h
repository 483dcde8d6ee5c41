#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "manifest/yaml.h"
#include "scenario/scenario.h"

// Changes to a scenario that the page can ask for.
namespace capstan::serve {

inline constexpr double kMinFactor = 0.1;
inline constexpr double kMaxFactor = 10;
inline constexpr double kMaxSpotPercent = 1000;

/// A change of the scenario. A field without a value leaves the scenario as it is.
struct WhatIf {
  std::optional<double> load_factor{};   ///< multiplies the load, kMinFactor to kMaxFactor
  std::optional<double> price_factor{};  ///< multiplies the price of every machine, in the same bounds
  /// Interruptions of a spot node per hour, percent, 0 to kMaxSpotPercent; 100: once an hour on average.
  std::optional<double> spot_interruptions_percent_per_hour{};
  std::optional<ReplicaCount> min_replicas{};
  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

/// Limits of a change, with the values that the scenario states.
struct WhatIfLimits {
  bool has_spot = false;  ///< a pool may buy spot nodes, or some exist
  double spot_interruptions_percent_per_hour = 0;
  bool has_minimum = false;  ///< there is one kind of replica, whose bounds the scenario states
  ReplicaCount min_replicas = 0;
  ReplicaCount max_replicas = 0;
};

WhatIfLimits what_if_limits(const scenario::Scenario& scenario);

/// Reads a change from the JSON of a request. An error says what is wrong and what was expected, without a place.
Result<WhatIf> parse_what_if(std::string_view json, const WhatIfLimits& limits);

/// Returns the change as assignments of `--set`, to be applied after the assignments that made the scenario.
/// @param root  the scenario's file with all earlier assignments
std::vector<std::string> what_if_sets(const WhatIf& change, const scenario::Scenario& scenario,
                                      const manifest::Node& root);

}  // namespace capstan::serve
