#include "bound/lower_bound.h"

#include <algorithm>

#include "base/assert.h"
#include "bound/corridor.h"

namespace capstan::bound {
namespace {

using engine::Picoseconds;

Picoseconds prefill_alone(const KnownRequest& request, std::int64_t cached, const ServiceTerms& service) {
  return service.model->prefill_alone_ps(request.input_tokens, cached, service.max_batched_tokens);
}

/// Returns the bound on the time to the request's first token.
Duration ttft_bound(const KnownRequest& request, const ServiceTerms& service) {
  if (!service.slo.scales_with_prompt()) return service.slo.ttft;
  return service.slo.ttft_of(Duration{prefill_alone(request, 0, service) / engine::kPicosecondsPerNanosecond});
}

/// Latest times of a request's first and last token.
struct Deadlines {
  Instant first;
  Instant last;
};

Deadlines deadlines(const KnownRequest& request, const ServiceTerms& service, Instant end) {
  const model::Slo& slo = service.slo;
  Deadlines due{end, end};
  const auto by = [&](Duration after_arrival) { return request.arrival + std::max(after_arrival, Duration{}); };
  if (slo.e2e > Duration{}) due.last = std::min(due.last, by(slo.e2e - service.front_end));
  if (slo.ttft > Duration{}) {
    due.first = std::min(due.first, by(ttft_bound(request, service) - service.front_end));
    if (slo.tpot > Duration{}) due.last = std::min(due.last, due.first + slo.tpot * (request.output_tokens - 1));
  }
  due.first = std::min(due.first, due.last);
  return due;
}

/// Returns the total amount of each kind of work. Prompts are divided by length into classes with about the same number
/// of tokens each.
WorkTotals totals_of(std::span<const KnownRequest> requests) {
  WorkTotals totals;
  std::vector<std::int32_t> prompts;
  prompts.reserve(requests.size());
  double tokens = 0;
  for (const KnownRequest& request : requests) {
    const auto decoded = static_cast<double>(request.output_tokens - 1);
    totals.decode_tokens += decoded;
    totals.kv_tokens += decoded * (static_cast<double>(request.input_tokens) + (decoded + 1) / 2);
    prompts.push_back(request.input_tokens - request.cached_tokens);
    tokens += prompts.back();
  }
  std::ranges::sort(prompts);
  double before = 0;
  for (const std::int32_t prompt : prompts) {
    const auto part = static_cast<std::size_t>(before / tokens * static_cast<double>(StepPrices::kLines));
    WorkTotals::Prompts& of = totals.prompts[std::min(part, StepPrices::kLines - 1)];
    of.tokens += prompt;
    of.count += 1;
    before += prompt;
  }
  return totals;
}

StepLimits limits_of(std::span<const KnownRequest> requests, const ServiceTerms& service) {
  StepLimits limits{.max_batched_tokens = service.max_batched_tokens,
                    .max_seqs = service.max_seqs,
                    .kv_tokens = service.shares_kv ? INT64_MAX : service.kv_blocks * engine::kKvBlockTokens,
                    .max_context_tokens = 1,
                    .tpot = service.slo.tpot};
  for (const KnownRequest& request : requests) {
    const std::int64_t context = std::int64_t{request.input_tokens} + request.output_tokens;
    limits.max_context_tokens = std::max(limits.max_context_tokens, context);
  }
  return limits;
}

constexpr double kPicosecondsPerSecond = 1e12;

std::size_t most_bins(Instant last_arrival, const BoundSettings& settings) {
  const auto long_bins = static_cast<std::size_t>(last_arrival.since_start / settings.long_bin) + 1;
  return std::clamp(long_bins, settings.most_bins, 3 * settings.most_bins);
}

}  // namespace

bool holds_alone(const KnownRequest& request, const ServiceTerms& service) {
  const std::int64_t tokens = std::int64_t{request.input_tokens} + request.output_tokens;
  if (ceil_div(tokens, engine::kKvBlockTokens) > service.kv_blocks) return false;
  const model::Slo& slo = service.slo;
  const std::int64_t decoded = request.output_tokens - 1;
  const Picoseconds prefill = prefill_alone(request, request.cached_tokens, service);
  const Picoseconds decode =
      decoded > 0 ? service.model->decode_steps_ps(1, std::int64_t{request.input_tokens} + 1, decoded) : 0;
  const auto within = [](Picoseconds time, Duration bound, Duration front_end) {
    return bound == Duration{} || time / engine::kPicosecondsPerNanosecond + front_end.count() <= bound.count();
  };
  return within(prefill, ttft_bound(request, service), service.front_end) &&
         within(prefill + decode, slo.e2e, service.front_end) &&
         (decoded == 0 || within(decode, slo.tpot * decoded, {}));
}

LowerBound lower_bound(std::vector<KnownRequest> requests, const ServiceTerms& service, FleetTerms fleet, Instant end,
                       const BoundSettings& settings) {
  LowerBound bound;
  const auto unattainable = [&](const KnownRequest& request) { return !holds_alone(request, service); };
  bound.unattainable_requests = static_cast<RequestCount>(std::erase_if(requests, unattainable));
  const auto count = static_cast<RequestCount>(requests.size());
  bound.allowed_misses =
      static_cast<RequestCount>(static_cast<__int128>(count) * (1'000'000 - service.slo.attainment_ppm) / 1'000'000);
  fleet.allowed_misses = bound.allowed_misses;
  if (requests.empty()) {
    bound.least_replica_s = fleet.standing * static_cast<double>(fleet.span.count()) * 1e-9;
    bound.solved = true;
    return bound;
  }

  bound.prices = best_prices(*service.model, limits_of(requests, service), totals_of(requests));
  const RequestPrice price(bound.prices, service.slo.tpot);
  std::vector<Job> jobs;
  jobs.reserve(requests.size());
  for (const KnownRequest& request : requests) {
    const Deadlines due = deadlines(request, service, end);
    jobs.push_back({.release = request.arrival,
                    .prefill_due = std::max(due.first, request.arrival),
                    .due = std::max(due.last, request.arrival),
                    .prefill_s = price.prefill_ps(request) / kPicosecondsPerSecond,
                    .decode_s = price.decode_ps(request) / kPicosecondsPerSecond});
    bound.work_replica_s += jobs.back().work_s();
  }
  const Corridor within = corridor(jobs, settings.bin, most_bins(requests.back().arrival, settings));
  FleetBound least = least_fleet(within, fleet);
  bound.least_replica_s = least.least_s;
  bound.solved = least.solved;
  bound.level = std::move(least.level);
  bound.bin = within.bin;
  return bound;
}

}  // namespace capstan::bound
