#include "plan/result/plan.h"

#include "base/assert.h"

namespace capstan::plan {

std::string_view words(Evidence evidence) {
  switch (evidence) {
    case Evidence::stated:
      return "stated";
    case Evidence::measured:
      return "measured";
    case Evidence::simulated:
      return "simulated";
    case Evidence::modelled:
      return "modelled";
    case Evidence::catalogue:
      return "from the catalogue";
    case Evidence::assumed:
      return "assumed";
    case Evidence::none:
      return "";
  }
  CAPSTAN_ASSERT(false);
  return {};
}

std::vector<PlannedService> planned_services(const PlanSpec& spec, const std::vector<ServicePlan>& plans) {
  std::vector<PlannedService> planned;
  auto service = spec.services.begin();
  for (auto plan = plans.begin(); plan != plans.end() && service != spec.services.end(); ++plan, ++service) {
    planned.push_back({*service, *plan});
  }
  return planned;
}

}  // namespace capstan::plan
