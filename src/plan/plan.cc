#include "plan/plan.h"

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

}  // namespace capstan::plan
