#include "plan/make_plan.h"

#include <array>
#include <utility>

#include "plan/sections/sections.h"

namespace capstan::plan {

Result<Plan> make_plan(PlanSpec spec, const SearchOptions& options) {
  static constexpr std::array kSections = {nodes_section,     gangs_section,   replicas_section,
                                           warm_pool_section, sharing_section, workload_section,
                                           cost_section,      proof_section,   monitoring_section};
  Result<SearchResult> found = search_fleets(spec, options);
  if (!found) return std::unexpected(found.error());
  Plan plan{.spec = std::move(spec),
            .services = std::move(found->services),
            .together = std::move(found->together),
            .sections = {},
            .simulations = found->simulations};
  const PlanFacts facts{.spec = plan.spec,
                        .services = plan.services,
                        .simulations = plan.simulations,
                        .together = plan.together ? &*plan.together : nullptr};
  if (auto load = load_section(facts)) plan.sections.push_back(std::move(*load));
  for (const auto& section : kSections) plan.sections.push_back(section(facts));
  return plan;
}

}  // namespace capstan::plan
