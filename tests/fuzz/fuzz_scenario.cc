// Applies each line as a `--set` to a valid scenario. If the reader accepts the result, the workload can be opened.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "check_error.h"
#include "scenario/scenario.h"

namespace {

constexpr std::string_view kScenario = R"(name: fuzz
load: {generator: {rate: 2, input: 200, output: 50}, duration: 5m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
cluster:
  zones: [a, b]
  pools: [{name: p, gpu_limit: 16, offerings: [{instance: p5.48xlarge}]}]
  existing: [{instance: p5.48xlarge, pool: p}]
policies:
  - {name: a, scale: {policy: queue_hpa}, place: {policy: gang}, provision: {policy: group}}
  - {name: b, scale: {policy: duty_cycle_hpa}, place: first_fit, provision: {policy: karpenter, consolidation: {}}}
)";

/// Returns true if the load needs no file and no table that may be missing.
bool needs_no_file(const capstan::workload::WorkloadSpec& load) {
  const auto* generator = std::get_if<capstan::workload::GeneratorSpec>(&load.from);
  return generator != nullptr && generator->lengths_profile.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  scenario::ScenarioOverrides overrides;
  while (!rest.empty() && overrides.sets.size() < 16) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    overrides.sets.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kScenario, "fuzz.yaml", overrides);
  if (!scenario) {
    for (const Error& error : scenario.error().list) fuzz::check_error(error);
    return 0;
  }
  CAPSTAN_ASSERT(!scenario->policies.empty());
  if (needs_no_file(scenario->endpoint().load))
    CAPSTAN_ASSERT(workload::open(scenario->endpoint().load, scenario->seed).has_value());
  return 0;
}
