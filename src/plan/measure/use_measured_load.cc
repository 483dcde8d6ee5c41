#include "plan/measure/use_measured_load.h"

#include <fmt/format.h>

namespace capstan::plan {

std::string measured_load_file(std::string_view service) { return fmt::format("load-{}.csv", service); }

void use_measured_load(const std::string& profile_text, scenario::Scenario& scenario) {
  if (!profile_text.empty()) scenario.endpoints.front().load.from = workload::ProfileSpec{profile_text};
}

}  // namespace capstan::plan
