#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/against/difference.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Result of an existing autoscaler on the plan's load and nodes.
struct ExistingScaler {
  std::string service{};
  std::string object{};  ///< "ScaledObject chat"
  std::string file{};
  ScalerKind kind = ScalerKind::hpa;
  std::int64_t attainment_ppm = 0;      ///< lowest share of met requests over the seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean cost over the seeds
  std::string refusal_reason{};         ///< reason why it cannot be simulated; empty: it was simulated
};

/// Simulates the existing autoscaler of each service that has one, under the plan's seeds. It is the
/// HorizontalPodAutoscaler, ScaledObject or InferenceScaler that targets the service's workload or has its name;
/// prefill and decode replicas may have one each. If the plan has one service and all existing autoscalers have one
/// target, the names need not match. Of several autoscalers of a workload, the one of the plan's kind is taken, else
/// the first.
Result<std::vector<ExistingScaler>> simulate_existing(const Plan& plan, const std::vector<ExistingObject>& existing,
                                                      const SearchOptions& options);

/// Says for each service with a constant fleet that the existing autoscaler is not needed, and what to do instead.
std::vector<std::string> notes_on_constant_fleets(const Plan& plan, const std::vector<ExistingScaler>& scalers);

}  // namespace capstan::plan
