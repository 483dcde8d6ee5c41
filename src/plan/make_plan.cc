#include "plan/make_plan.h"

#include <array>
#include <utility>

#include "plan/sections/sections.h"
#include "plan/threshold_minimum.h"

namespace capstan::plan {

Result<Plan> make_plan(PlanSpec spec, const SearchOptions& options) {
  static constexpr std::array kSections = {nodes_section,     gangs_section,   replicas_section,
                                           warm_pool_section, sharing_section, workload_section,
                                           cost_section,      proof_section,   monitoring_section};
  Result<SearchResult> found = search_fleets(spec, options);
  if (!found) return std::unexpected(found.error());
  for (std::size_t i = 0; i < found->services.size(); ++i) {
    const auto simulations = fit_threshold_minimum(spec, spec.services[i], found->services[i], options);
    if (!simulations) return std::unexpected(simulations.error());
    found->simulations += *simulations;
  }
  Plan plan{.spec = std::move(spec),
            .services = std::move(found->services),
            .sections = {},
            .simulations = found->simulations};
  for (const auto& section : kSections) plan.sections.push_back(section({plan.spec, plan.services, plan.simulations}));
  return plan;
}

}  // namespace capstan::plan
