#include "plan/search/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/measure/use_measured_load.h"
#include "plan/search/budget.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;

/// Returns the first error of a scenario that the plan itself wrote, as an error of the service.
Error scenario_error(const ServiceSpec& service, const manifest::Errors& errors) {
  const Error& first = errors.list.front();
  Error error = Error::about("services." + service.name, "its scenario cannot be simulated: " + first.message);
  error.kind = first.kind;
  return error;
}

StartPhase transfer_phase(StartStep step, std::int64_t bytes, std::int64_t bytes_per_s) {
  const auto time = Duration{
      static_cast<std::int64_t>(static_cast<__int128>(bytes) * 1'000'000'000 / std::max<std::int64_t>(1, bytes_per_s))};
  return {step, time, time};
}

}  // namespace

Result<std::vector<experiment::RunResult>> FleetTrials::run(std::span<const TrialOrder> orders,
                                                            const std::string& stage) {
  std::vector<scenario::Scenario> scenarios;
  for (const TrialOrder& order : orders) {
    const std::string text = scenario_text(spec_, service_, order.fleet, load_, order.conditions);
    auto scenario = scenario::parse_scenario(text, "scenario-" + service_.name + ".yaml",
                                             {.sets = {}, .trace = {}, .seed = order.seed, .policies = {}});
    if (!scenario) return std::unexpected(scenario_error(service_, scenario.error()));
    use_measured_load(service_.load.profile_text, *scenario);
    scenarios.push_back(std::move(*scenario));
  }
  std::vector<experiment::PlannedRun> planned;
  for (const scenario::Scenario& scenario : scenarios) planned.push_back({&scenario, &scenario.policies.front()});
  if (options_.progress) {
    options_.progress(fmt::format("{}: {}, {} {}", service_.name, stage, planned.size(),
                                  planned.size() == 1 ? "simulation" : "simulations"));
  }
  auto results = experiment::run_batch(planned, options_.jobs, stage, {});
  if (!results) return results;
  simulations_ += static_cast<std::int64_t>(results->size());
  for (const experiment::RunResult& result : *results) requests_ += counted_requests(result);
  return results;
}

RequestCount counted_requests(const experiment::RunResult& result) {
  return std::max<RequestCount>(result.requests.arrived, result.prompt_tokens / kPromptTokensOfRequest);
}

std::int64_t goodput_milli(std::span<const experiment::Minute> by_minute, Duration simulated) {
  const std::size_t window = kPeakWindow / std::chrono::minutes(1);
  const std::size_t minutes = std::min(window, by_minute.size());
  RequestCount most_arrived = -1, met = 0;
  for (std::size_t first = 0; first + minutes <= by_minute.size() && minutes > 0; ++first) {
    RequestCount arrived_here = 0, met_here = 0;
    for (std::size_t i = first; i < first + minutes; ++i) {
      arrived_here += by_minute[i].arrived;
      met_here += by_minute[i].met;
    }
    if (arrived_here <= most_arrived) continue;
    most_arrived = arrived_here;
    met = met_here;
  }
  const Duration length = std::min<Duration>(simulated, std::chrono::minutes(minutes));
  const std::int64_t ms = std::max<std::int64_t>(1, length / std::chrono::milliseconds(1));
  return met * 1'000'000 / ms;
}

Trial trial_of(std::string name, const experiment::RunResult& result) {
  using experiment::GpuState;
  const auto gpu_time = [&](GpuState state) { return result.gpu_ns[static_cast<std::size_t>(state)]; };
  std::vector<ReplicaCount> by_minute;
  for (const experiment::Minute& minute : result.minutes) by_minute.push_back(std::max(minute.desired, minute.ready));
  std::int64_t spot_micro_usd = 0;
  for (const experiment::Spending& part : result.spending) {
    if (part.capacity == model::CapacityType::spot) spot_micro_usd += part.micro_usd;
  }
  return {.name = std::move(name),
          .seed = result.seed,
          .attainment_ppm = result.attainment_ppm(),
          .requests = result.requests.arrived,
          .ttft_p99 = std::chrono::microseconds(result.ttft.p99_us),
          .tpot_p99 = std::chrono::microseconds(result.tpot.p99_us),
          .micro_usd = result.total_micro_usd(),
          .spot_micro_usd = spot_micro_usd,
          .simulated = result.simulated,
          .paid_gpu_ns = result.paid_gpu_ns(),
          .idle_gpu_ns = gpu_time(GpuState::idle) + gpu_time(GpuState::unallocated) + gpu_time(GpuState::sleeping) +
                         gpu_time(GpuState::held),
          .useful_gpu_ns = result.useful_gpu_ns,
          .goodput_milli = goodput_milli(result.minutes, result.simulated),
          .replicas_by_minute = std::move(by_minute),
          .answer_tokens = result.tokens.delivered,
          .prompt_tokens = result.prompt_tokens,
          .cold_start_p50 = result.cold_start_p50,
          .cold_start_max = result.cold_start_max,
          .reclaimed = result.disruptions.spot};
}

std::vector<StartPhase> start_phases(const scenario::Scenario& scenario, std::int64_t machines_per_replica) {
  std::vector<StartPhase> phases;
  const sim::ProviderConfig& provider = scenario.policies.front().provider;
  const bool can_buy =
      std::ranges::any_of(scenario.catalog->pools, [](const model::Pool& pool) { return !pool.offerings.empty(); });
  if (can_buy) {
    phases.push_back({StartStep::node,
                      provider.decision.midpoint() + provider.boot.midpoint() + provider.driver.midpoint(),
                      provider.decision.high + provider.boot.high + provider.driver.high});
  }
  const sim::BandwidthConfig& bandwidth = scenario.cluster.bandwidth;
  const sim::VariantStart& start = scenario.cluster.starts.front();
  phases.push_back(
      transfer_phase(StartStep::image_pull, start.image_size.count, std::min(bandwidth.node_nic, bandwidth.registry)));
  phases.push_back(transfer_phase(StartStep::weights, start.weights.count / machines_per_replica,
                                  std::min(bandwidth.node_nic, bandwidth.object_store)));
  phases.push_back({StartStep::engine_start, start.engine_init.midpoint(), start.engine_init.high});
  phases.push_back({StartStep::warm_up, start.warm_up.midpoint(), start.warm_up.high});
  return phases;
}

}  // namespace capstan::plan
