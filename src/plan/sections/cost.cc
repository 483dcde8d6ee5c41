#include <fmt/format.h>

#include <algorithm>

#include "experiment/words.h"
#include "plan/cost/answers.h"
#include "plan/figures.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

using experiment::usd;

/// Prefixes the statements of a service with its name if the plan has several.
std::string cost_name(const PlanFacts& facts, const ServicePlan& service, std::string_view name) {
  return facts.services.size() == 1 ? std::string(name) : fmt::format("{} {}", service.service, name);
}

GpuPrice gpu_price(const MachineSpec& machine) {
  const std::optional<MicroUsd> price = machine.on_demand_per_hour ? machine.on_demand_per_hour : machine.spot_per_hour;
  if (!price || machine.gpus == 0) return {};
  return {MicroUsd{price->count / machine.gpus}, machine.has_stated_price ? Evidence::stated : Evidence::catalogue};
}

/// Sums over the seeds of a service.
struct Sums {
  GpuNanoseconds paid = 0, idle = 0;
  std::int64_t micro_usd = 0, tokens = 0;
  Duration simulated{};
};
Sums sums_of(const ServicePlan& service) {
  Sums sums;
  for (const Trial& trial : service.seeds) {
    sums.paid += trial.paid_gpu_ns;
    sums.idle += trial.idle_gpu_ns;
    sums.micro_usd += trial.micro_usd;
    sums.tokens += trial.answer_tokens;
    sums.simulated += trial.simulated;
  }
  return sums;
}

/// Returns the longest cold start that the simulations show, else the longest that the phases add up to.
Duration cold_start_of(const ServicePlan& service) {
  Duration longest{};
  for (const Trial& trial : service.seeds) longest = std::max(longest, trial.cold_start_p50);
  if (longest > Duration{}) return longest;
  for (const StartPhase& phase : service.start) longest += phase.typical;
  return longest;
}

void add_service(const PlanFacts& facts, const ServicePlan& service, Section& out) {
  const auto add = [&](Statement statement) {
    statement.name = cost_name(facts, service, statement.name);
    out.statements.push_back(std::move(statement));
  };
  const Sums sums = sums_of(service);
  const std::int64_t per_hour = micro_usd_per_hour(service);
  add({.name = "machines",
       .value = usd(per_hour * kHoursPerMonth) + " USD/month",
       .why =
           fmt::format("{} USD/h, mean of {} simulations, x {} h", usd(per_hour), service.seeds.size(), kHoursPerMonth),
       .evidence = Evidence::simulated});
  if (sums.tokens > 0) {
    const auto per_million = static_cast<std::int64_t>(static_cast<__int128>(sums.micro_usd) * 1'000'000 / sums.tokens);
    add({.name = "million answer tokens",
         .value = usd(per_million) + " USD",
         .why = fmt::format("{} USD / {} answer tokens, all simulations", usd(sums.micro_usd),
                            experiment::grouped(sums.tokens)),
         .evidence = Evidence::simulated});
  }
  const std::int64_t idle_ppm = sums.paid == 0 ? 0 : static_cast<std::int64_t>(sums.idle * 1'000'000 / sums.paid);
  add(idle_cost({per_hour, idle_ppm, Evidence::simulated}));
  for (const RoleFleet& role : service.roles) {
    Statement warm = warm_pool_cost({role.minimum, role.gpus_per_replica(), gpu_price(role.machine)});
    if (role.role != model::Role::both) warm.name = role_word(role.role) + " " + warm.name;
    add(std::move(warm));
  }
}

void add_trap(const PlanFacts& facts, const ServicePlan& service, const ServiceSpec& spec, Section& out) {
  const RoleFleet& role = service.roles.back();
  RequestCount requests = 0;
  for (const Trial& trial : service.seeds) requests += trial.requests;
  const double seconds = std::chrono::duration<double>(sums_of(service).simulated).count();
  for (Statement& statement : consolidation_cost(
           {.cold_start = cold_start_of(service),
            .gpus_per_replica = role.gpus_per_replica(),
            .price = gpu_price(role.machine),
            .requests_per_s = seconds > 0 ? static_cast<double>(requests) / seconds : spec.load.requests_per_s,
            .replicas = std::max<ReplicaCount>(role.mean_ready_milli / 1000, 1),
            .per_lost_request = {}})) {
    statement.name = cost_name(facts, service, statement.name);
    out.statements.push_back(std::move(statement));
  }
}

}  // namespace

Section cost_section(const PlanFacts& facts) {
  Section out{.key = "cost", .title = "Cost"};
  std::int64_t per_hour = 0, working_milli = 0;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& service = facts.services[i];
    add_service(facts, service, out);
    add_trap(facts, service, facts.spec.services[i], out);
    const Sums sums = sums_of(service);
    per_hour += micro_usd_per_hour(service);
    if (sums.simulated.count() > 0) {
      working_milli += static_cast<std::int64_t>((sums.paid - sums.idle) * 1000 / sums.simulated.count());
    }
    if (service.runner_up) {
      out.statements.push_back({.name = cost_name(facts, service, "runner-up"),
                                .value = usd(service.runner_up->micro_usd_per_hour) + " USD/h",
                                .why = fmt::format("{}, {} % met", service.runner_up->fleet,
                                                   experiment::tenths(service.runner_up->attainment_ppm, 10'000)),
                                .evidence = Evidence::simulated});
    }
  }
  for (Statement& statement : serverless_cost({.gpu_micro_usd_per_hour = per_hour,
                                               .gpu_milli = working_milli,
                                               .staff = facts.spec.staff,
                                               .fleet_evidence = Evidence::simulated})) {
    out.statements.push_back(std::move(statement));
  }
  out.answer = fmt::format(
      "The machines cost {} USD/h, {} USD/month. The prices contain no network, storage or control "
      "plane.",
      usd(per_hour), usd(per_hour * kHoursPerMonth));
  return out;
}

}  // namespace capstan::plan
