// Applies each line as a `--set` to a valid spec of a plan. If the reader accepts the result, its services can be
// searched: the model has rows, a machine holds a replica, and every figure is finite.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "check_error.h"
#include "plan/feasibility/refusal.h"
#include "plan/read/read_spec.h"
#include "plan/spec/candidates.h"

namespace {

constexpr std::string_view kSpec = R"(cluster:
  instances: [p5.48xlarge, {instance: own, gpu: H100, gpus: 4, usd_per_hour: 20, existing: 2}]
tenants: [{name: production, gpu_quota: 8}]
limits: {gpus: 64}
services:
- {name: chat, model: Llama-3.3-70B, dtype: fp8, slo: {ttft_p99: 2s, tpot: 50ms}, load: {requests_per_second: 2}}
- {name: small, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {concurrency: 20}}
asked: {scale_on: queue}
)";

void check_service(const capstan::plan::ServiceSpec& service, const capstan::plan::PlanSpec& spec) {
  CAPSTAN_ASSERT(!service.name.empty() && !service.model.empty());
  CAPSTAN_ASSERT(!capstan::plan::fitting_candidates(service, spec).empty());
  if (service.load.source != capstan::plan::LoadSpec::Source::generated) return;
  CAPSTAN_ASSERT(std::isfinite(service.load.requests_per_s) && service.load.requests_per_s > 0);
  CAPSTAN_ASSERT(service.load.burst_length < service.load.burst_every);
  CAPSTAN_ASSERT(service.load.prompt.median >= 1 && service.load.prompt.longest >= service.load.prompt.median);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> sets;
  while (!rest.empty() && sets.size() < 16) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const bool names_a_device = line.find("/dev") != line.npos;  // reading a device may never end
    if (!names_a_device) sets.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const plan::SpecResult spec = plan::parse_plan_spec(kSpec, "fuzz.yaml", sets);
  if (!spec) {
    for (const Error& error : spec.error().list) fuzz::check_error(error);
    return 0;
  }
  CAPSTAN_ASSERT(!spec->services.empty() && !spec->tenants.empty() && !spec->cluster.machines.empty());
  for (const plan::ServiceSpec& service : spec->services) check_service(service, *spec);
  for (const plan::Refusal& refusal : plan::refusals(*spec)) {
    CAPSTAN_ASSERT(!refusal.what.empty() && !refusal.why.empty() && !refusal.instead.empty());
  }
  return 0;
}
