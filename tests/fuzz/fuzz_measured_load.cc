// Reads any bytes as the answers of a Prometheus server on which the load of a service is measured. If the answers are
// accepted, the simulator must be able to read the profile that they give.
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "plan/measure/measured_load.h"
#include "plan/read/read_spec.h"
#include "plan/search/load_facts.h"

namespace {

constexpr std::string_view kSpec = R"(services:
- name: chat
  model: Llama-3.1-8B
  slo: {ttft_p99: 1s}
  load: {prometheus: {url: "http://prom", over: 30m, labels: {}}}
)";
constexpr std::int64_t kNow = 1'700'000'000'000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  static const plan::PlanSpec spec = *plan::parse_plan_spec(kSpec, "fuzz.yaml");
  const auto answer = signals::parse_api_answer({reinterpret_cast<const char*>(data), size}, "answer");
  if (!answer) return 0;
  plan::ServiceSpec service = spec.services.front();
  const auto queries = plan::measure_queries(service, *spec.engines, *answer);
  if (!queries) {
    CAPSTAN_ASSERT(!queries.error().message.empty());
    return 0;
  }
  // The same bytes are the answer to every query.
  const std::vector<signals::ApiAnswer> answers(queries->queries.size(), *answer);
  const auto load = plan::measured_load(service, *queries, answers, plan::measured_span(service.load.measure, kNow));
  if (!load) {
    CAPSTAN_ASSERT(!load.error().message.empty());
    return 0;
  }
  service.load = *load;
  service.load.scale = 1e-3;  // so that few requests are drawn
  const auto facts = plan::count_load(service);
  if (facts) CAPSTAN_ASSERT(std::isfinite(facts->prompt_tokens) && facts->prompt_tokens >= 1);
  if (!facts) CAPSTAN_ASSERT(facts.error().kind == ErrorKind::infeasible);
  return 0;
}
