#include "plan/feasibility/concurrency.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "plan/fleet/capacity.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// The step of the replica with the lowest price per token, at the largest batch that its SLO allows.
struct CheapestStep {
  double seconds = 0;  ///< time of the step; 0: no candidate reaches the SLO
  std::int64_t batch = 0;
  const engine::EngineRow* row = nullptr;
};

CheapestStep cheapest_step(const ServiceSpec& service, const PlanSpec& spec) {
  const MeanRequest request = mean_request(service, {});
  CheapestStep cheapest;
  double lowest = 0;  // lowest price of a token so far, up to a constant factor
  for (const SpecCandidate& candidate : fitting_candidates(service, spec)) {
    const auto capacity = replica_capacity(*candidate.row, model::Role::both, service.slo, request).found;
    if (capacity.out_of_reach || capacity.tokens_per_s <= 0 || capacity.token_s <= 0) continue;
    const auto price = lowest_price(*candidate.machine, spec.cluster).value_or(MicroUsd{0});
    const double gpu_share = static_cast<double>(candidate.row->tp) / static_cast<double>(candidate.machine->gpus);
    const double per_token = static_cast<double>(price.count) * gpu_share / capacity.tokens_per_s;
    if (cheapest.row != nullptr && per_token >= lowest) continue;
    lowest = per_token;
    cheapest = {capacity.token_s, capacity.batch, candidate.row};
  }
  return cheapest;
}

}  // namespace

TimeInFlight time_in_flight(const ServiceSpec& service, const PlanSpec& spec) {
  const bool has_ttft = service.slo.ttft > 0s;
  const double first = has_ttft ? in_seconds(service.slo.ttft) / 2 : 1.0;
  const double further = std::max(mean_tokens(service.load.answer) - 1, 0.0);
  const CheapestStep cheapest = cheapest_step(service, spec);
  const bool has_tpot = service.slo.tpot > 0s;
  const double step = cheapest.row != nullptr ? cheapest.seconds : has_tpot ? in_seconds(service.slo.tpot) / 2 : 0.03;
  const std::string source = cheapest.row != nullptr
                                 ? fmt::format("step of {} at {} sequences", row_words(*cheapest.row), cheapest.batch)
                             : has_tpot ? std::string("half of the bound on TPOT")
                                        : std::string("assumed");
  return {.seconds = first + further * step,
          .arithmetic = fmt::format("{:.3g} s ({}) + {:.4g} tokens x {:.3g} ms ({})", first,
                                    has_ttft ? "half of the bound on TTFT" : "assumed", further, step * 1000, source)};
}

}  // namespace capstan::plan
