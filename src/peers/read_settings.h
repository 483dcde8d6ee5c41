#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "manifest/fields.h"
#include "peers/autoscaler.h"

namespace capstan::peers {

/// A peer policy read from a scenario.
struct Choice {
  std::function<std::unique_ptr<Autoscaler>()> make;  ///< creates a new instance for each run
  Duration period{};
  std::optional<Duration> scrape_interval;  ///< interval at which the peer itself scrapes, if it does
};

/// Returns the policies that `read_settings` knows: knative_kpa, ray_serve, aibrix_apa, aibrix_kpa, wva_v1, wva_v2,
/// dynamo_planner.
std::span<const std::string_view> names();

/// Reads `{policy: ray_serve, target_ongoing_requests: 24, ...}`. Settings have the peers' own names and defaults. If
/// the peer has no bound of its own, the service's bound applies.
Choice read_settings(const manifest::Node& node, manifest::ErrorList& errors);

}  // namespace capstan::peers
