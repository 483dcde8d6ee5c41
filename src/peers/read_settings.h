#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "manifest/fields.h"
#include "peers/autoscaler.h"

namespace capstan::peers {

/// A peer as a scenario states it.
struct Choice {
  std::function<std::unique_ptr<Autoscaler>()> make;  ///< a new one for each run
  Duration period{};
  std::optional<Duration> scrape_interval;  ///< where it reads metrics at a beat of its own
};

/// The policies that `read_settings` knows: knative_kpa, ray_serve, aibrix_apa, aibrix_kpa, wva_v1, wva_v2,
/// dynamo_planner.
std::span<const std::string_view> names();

/// `{policy: ray_serve, target_ongoing_requests: 24, ...}`: settings have the peers' own names and defaults. Where the
/// peer has no bound of its own, the service's holds.
Choice read_settings(const manifest::Node& node, manifest::Verdict& verdict);

}  // namespace capstan::peers
