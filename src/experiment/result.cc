#include "experiment/result.h"

#include <numeric>

namespace capstan::experiment {

namespace {

/// Wide enough for the product of two totals: GPU x nanoseconds of a year times millions of requests.
__extension__ typedef __int128 Wide;

std::int64_t ratio(Wide numerator, Wide denominator) {
  return denominator <= 0 ? 0 : static_cast<std::int64_t>(numerator / denominator);
}

}  // namespace

std::int64_t RunResult::paid_gpu_ns() const { return std::accumulate(gpu_ns.begin(), gpu_ns.end(), std::int64_t{0}); }

std::int64_t RunResult::total_micro_usd() const {
  return std::accumulate(cost_micro_usd.begin(), cost_micro_usd.end(), std::int64_t{0});
}

std::int64_t RunResult::attainment_ppm() const { return ratio(Wide{requests.met} * 1'000'000, requests.arrived); }

std::int64_t RunResult::score_milli() const {
  // Requests first and GPU time in microseconds: every product stays below 2^127.
  return ratio(Wide{100'000} * requests.met * (useful_gpu_ns / 1000), Wide{requests.arrived} * (paid_gpu_ns() / 1000));
}

}  // namespace capstan::experiment
