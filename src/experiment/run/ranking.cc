#include "experiment/run/ranking.h"

#include <algorithm>

namespace capstan::experiment {
namespace {

/// Returns the number of requests that have to be met to hold the SLO. It is rounded up, because attainment is rounded
/// down to whole millionths.
RequestCount requests_asked_for(const RunResult& result, const model::Slo& slo) {
  const auto product = static_cast<__int128>(result.requests.arrived) * slo.attainment_ppm;
  return static_cast<RequestCount>((product + 999'999) / 1'000'000);
}

}  // namespace

bool holds_slo(const RunResult& result, const model::Slo& slo) { return result.attainment_ppm() >= slo.attainment_ppm; }

RequestCount requests_short_of_slo(const RunResult& result, const model::Slo& slo) {
  return std::max<RequestCount>(0, requests_asked_for(result, slo) - result.requests.met);
}

bool is_cheaper(const RunResult& a, const RunResult& b) {
  if (a.total_micro_usd() != b.total_micro_usd()) return a.total_micro_usd() < b.total_micro_usd();
  return a.paid_gpu_ns() < b.paid_gpu_ns();
}

bool ranks_before(const RunResult& a, const RunResult& b, const model::Slo& slo) {
  const bool a_holds = holds_slo(a, slo);
  if (a_holds != holds_slo(b, slo)) return a_holds;
  if (!a_holds && a.attainment_ppm() != b.attainment_ppm()) return a.attainment_ppm() > b.attainment_ppm();
  if (is_cheaper(a, b)) return true;
  return !is_cheaper(b, a) && a.policy < b.policy;
}

void rank(std::vector<RunResult>& results, const model::Slo& slo) {
  std::ranges::sort(results, [&](const RunResult& a, const RunResult& b) { return ranks_before(a, b, slo); });
}

}  // namespace capstan::experiment
