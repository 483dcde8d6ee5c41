#include "experiment/run/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/number_text.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

/// The least number and share of refusals for a warning. Fewer are normal, because the world changes while an action is
/// on its way.
constexpr std::int64_t kFewest = 10;
constexpr std::int64_t kSmallestSharePercent = 10;

/// Names in the order of `model::Action::what`.
constexpr std::array<std::pair<const char*, const char*>, sim::kActionKinds> kKinds = {
    {{"scaling", "scalings"},
     {"binding", "bindings"},
     {"launch", "launches"},
     {"release of a group of nodes", "releases of groups of nodes"},
     {"node termination", "node terminations"},
     {"eviction", "evictions"},
     {"change of a role", "changes of roles"}}};
constexpr std::size_t kBind = 1;

/// Returns the most frequent reason of the refused bindings.
std::string bind_cause(const sim::ClusterMeter& meter, std::int64_t refused, std::string_view level) {
  const std::int64_t gone = refused - meter.binds_refused_spread - meter.binds_refused_full;
  const std::int64_t most = std::max({gone, meter.binds_refused_spread, meter.binds_refused_full});
  if (most == meter.binds_refused_spread) {
    return fmt::format("a replica's pods would have stood in several {}s, which cluster.enforce_together refuses",
                       level);
  }
  return most == meter.binds_refused_full ? "the nodes had no room for the pods"
                                          : "the pods or the nodes were gone, or bound and not ready";
}

}  // namespace

std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, std::string_view level) {
  std::vector<std::string> warnings;
  for (std::size_t kind = 0; kind < sim::kActionKinds; ++kind) {
    const auto [asked, refused] = meter.actions[kind];
    if (refused < kFewest || refused * 100 < asked * kSmallestSharePercent) continue;
    const std::string cause = kind == kBind ? bind_cause(meter, refused, level)
                                            : "the object was gone, or its state no longer allowed the action";
    warnings.push_back(fmt::format("{} of {} were refused: {}", grouped_text(refused),
                                   counted(asked, kKinds[kind].first, kKinds[kind].second), cause));
  }
  if (meter.gangs_spread > 0) {
    warnings.push_back(
        fmt::format("the pods of {} stood in several {}s: the placement does not know service.together, and "
                    "no API server refuses it; such replicas are simulated as fast as others, and are "
                    "slower on a real network",
                    counted(meter.gangs_spread, "replica", "replicas"), level));
  }
  return warnings;
}

}  // namespace capstan::experiment
