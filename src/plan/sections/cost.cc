#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "plan/cost/gpu_price.h"
#include "plan/objects/names.h"
#include "plan/pods/cold_start.h"
#include "plan/pools/pools.h"
#include "plan/result/figures.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

using experiment::usd;

/// Adds a statement about a service. If the plan has several services, its name begins with the name of the service.
void add_statement(const PlanFacts& facts, const ServicePlan& service, Statement statement, Section& out) {
  if (facts.services.size() > 1) {
    statement.name = fmt::format("{} {}", service.service, statement.name);
    statement.subject = service.service;
  }
  out.statements.push_back(std::move(statement));
}

/// Sums over the seeds of a service.
struct ServiceTotals {
  GpuNanoseconds paid = 0, idle = 0, useful = 0;
  std::int64_t micro_usd = 0, tokens = 0;
  Duration simulated{};
};
ServiceTotals totals_of(const ServicePlan& service) {
  ServiceTotals totals;
  for (const Trial& trial : service.seeds) {
    totals.paid += trial.paid_gpu_ns;
    totals.idle += trial.idle_gpu_ns;
    totals.useful += trial.useful_gpu_ns;
    totals.micro_usd += trial.micro_usd;
    totals.tokens += trial.answer_tokens;
    totals.simulated += trial.simulated;
  }
  return totals;
}

/// Returns the share of `part` in the paid GPU time, millionths. On shared nodes a service pays for less GPU time than
/// in its simulation, so the same `part` is a larger share.
std::int64_t paid_share_ppm(const ServicePlan& service, const ServiceTotals& totals, GpuNanoseconds part) {
  if (totals.paid == 0) return 0;
  const auto ppm = static_cast<std::int64_t>(static_cast<__int128>(part) * 1'000'000 / totals.paid);
  const std::int64_t planned = planned_micro_usd_per_hour(service);
  if (!service.shared_micro_usd_per_hour || planned <= 0) return ppm;
  const __int128 working = static_cast<__int128>(micro_usd_per_hour(service)) * ppm;
  return std::min<std::int64_t>(1'000'000, static_cast<std::int64_t>(working / planned));
}

/// Adds the cost of the GPU time that the met requests did not need, and of the part of it in which no step ran. A GPU
/// whose batch is nearly empty runs steps all the time, so the second figure alone would hide most of the first.
template <typename Add>
void add_idle(const ServicePlan& service, const ServiceTotals& totals, const Add& add) {
  const bool is_shared = service.shared_micro_usd_per_hour.has_value();
  const Evidence evidence = is_shared ? Evidence::modelled : Evidence::simulated;
  const std::int64_t per_hour = planned_micro_usd_per_hour(service);
  const std::int64_t needed_ppm = paid_share_ppm(service, totals, totals.useful);
  Statement spare = idle_cost({per_hour, 1'000'000 - needed_ppm, evidence});
  spare.name = "GPU time above need";
  spare.why = fmt::format(
      "full batches would serve the met requests in {} of the paid GPU time, as `capstan compare` "
      "counts it; the other {} holds the SLO in bursts: {} USD/h x {} x {} h",
      experiment::share_text(needed_ppm), experiment::share_text(1'000'000 - needed_ppm), usd(per_hour),
      experiment::share_text(1'000'000 - needed_ppm), kHoursPerMonth);
  add(std::move(spare));
  const std::int64_t stepping_ppm = paid_share_ppm(service, totals, totals.paid - totals.idle);
  Statement idle = idle_cost({per_hour, 1'000'000 - stepping_ppm, evidence});
  idle.name = "GPUs without a running step";
  idle.visibility = Visibility::details;
  idle.why += is_shared ? "; the replicas work as many GPU-hours as on nodes of their own"
                        : "; GPUs of paid nodes that no replica holds are among them";
  idle.why += "; the rest is the duty cycle, which does not say how full the batches are";
  add(std::move(idle));
}

/// Adds the cost of the nodes that hold the minimum. On nodes that services share, only the GPUs of the minimum count.
template <typename Add>
void add_warm_pool(const ServicePlan& service, const Add& add) {
  if (service.roles.empty()) return;
  const RoleFleet& first = service.roles.front();
  if (service.shared_micro_usd_per_hour) {
    for (const RoleFleet& role : service.roles) {
      Statement warm = warm_pool_cost({role.minimum, role.gpus_per_replica(), gpu_price(role)});
      warm.evidence = Evidence::modelled;
      if (role.role != model::Role::both) warm.name = role_word(role.role) + " " + warm.name;
      add(std::move(warm));
    }
    return;
  }
  ReplicaCount replicas = 0;
  for (const RoleFleet& role : service.roles) replicas += role.minimum;
  const GpuCount per_replica = blocked_gpus(device_of(first).per_pod, first.machine.gpus) * first.pods;
  const std::int64_t nodes = ceil_div(replicas * per_replica, first.machine.gpus);
  const std::int64_t per_hour = node_price(first).count * nodes;
  add({.name = "warm pool",
       .value = usd_sum(per_hour * kHoursPerMonth) + " USD/month",
       .why = fmt::format("{} {} {} the minimum of {} x {}: {} x {} USD/h x {} h", nodes, first.machine.name,
                          nodes == 1 ? "holds" : "hold", count_text(replicas, "replica", "replicas"),
                          count_text(first.gpus_per_replica(), "GPU", "GPUs"), nodes, usd(node_price(first).count),
                          kHoursPerMonth),
       .evidence = Evidence::modelled});
}

void add_service(const PlanFacts& facts, const ServicePlan& service, Section& out) {
  const auto add = [&](Statement statement) { add_statement(facts, service, std::move(statement), out); };
  const ServiceTotals totals = totals_of(service);
  const std::int64_t per_hour = planned_micro_usd_per_hour(service);
  const bool is_shared = service.shared_micro_usd_per_hour.has_value();
  const Duration length = service.seeds.empty() ? Duration{} : service.seeds.front().simulated;
  add({.name = "machines",
       .value = usd_sum(per_hour * kHoursPerMonth) + " USD/month",
       .why = is_shared ? fmt::format("{} USD/h x {} h: {}", usd(per_hour), kHoursPerMonth, service.shared_why)
                        : fmt::format("{} USD/h x {} h, mean of {} simulations of {}, {}; a month is extrapolated from "
                                      "them",
                                      usd(per_hour), kHoursPerMonth, service.seeds.size(), time_text(length),
                                      cost_range_words(service.seeds)),
       .evidence = is_shared ? Evidence::modelled : Evidence::simulated});
  if (totals.tokens > 0) {
    // Nodes that services share cost less than those of the simulations, for the same tokens.
    const std::int64_t own_per_hour = micro_usd_per_hour(service);
    const std::int64_t micro_usd =
        is_shared && own_per_hour > 0
            ? static_cast<std::int64_t>(static_cast<__int128>(totals.micro_usd) * per_hour / own_per_hour)
            : totals.micro_usd;
    const auto per_million = static_cast<std::int64_t>(static_cast<__int128>(micro_usd) * 1'000'000 / totals.tokens);
    add({.name = "million answer tokens",
         .value = usd(per_million) + " USD",
         .why = fmt::format("{} USD{} / {} answer tokens, all simulations", usd(micro_usd),
                            is_shared ? " for the share of the nodes" : "", grouped_text(totals.tokens)),
         .evidence = is_shared ? Evidence::modelled : Evidence::simulated,
         .visibility = Visibility::page});
  }
  add_idle(service, totals, add);
  add_warm_pool(service, add);
}

void add_trap(const PlanFacts& facts, const ServicePlan& service, const ServiceSpec& spec, Section& out) {
  const RoleFleet& role = service.roles.back();
  RequestCount requests = 0;
  for (const Trial& trial : service.seeds) requests += trial.requests;
  const double seconds = std::chrono::duration<double>(totals_of(service).simulated).count();
  for (Statement& statement : consolidation_cost(
           {.cold_start = cold_start_sum(service.start).typical_without_node,
            .gpus_per_replica = role.gpus_per_replica(),
            .price = gpu_price(role),
            .requests_per_s = seconds > 0 ? static_cast<double>(requests) / seconds : spec.load.requests_per_s,
            .replicas = std::max<ReplicaCount>((role.mean_ready_milli + 500) / 1000, 1),
            .per_lost_request = {}})) {
    add_statement(facts, service, std::move(statement), out);
  }
}

}  // namespace

Section cost_section(const PlanFacts& facts) {
  Section out{.key = "cost", .title = "Cost"};
  std::int64_t per_hour = 0, useful_milli = 0;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& service = facts.services[i];
    add_service(facts, service, out);
    // Only Karpenter has the consolidation policy that this statement warns about.
    if (facts.spec.cluster.provisioner == Provisioner::karpenter) add_trap(facts, service, facts.spec.services[i], out);
    const ServiceTotals totals = totals_of(service);
    per_hour += planned_micro_usd_per_hour(service);
    if (totals.simulated.count() > 0) {
      useful_milli += static_cast<std::int64_t>(totals.useful * 1000 / totals.simulated.count());
    }
    if (service.runner_up) {
      add_statement(
          facts, service,
          {.name = "runner-up",
           .value = usd(service.runner_up->micro_usd_per_hour) + " USD/h",
           .why = fmt::format("{}, {} met; the cheapest fleet of another GPU kind or parallelism, simulated "
                              "under all seeds with Capstan's policy",
                              service.runner_up->fleet, experiment::share_text(service.runner_up->attainment_ppm)),
           .evidence = Evidence::simulated},
          out);
    }
  }
  const bool has_shared = std::ranges::any_of(
      facts.services, [](const ServicePlan& service) { return service.shared_micro_usd_per_hour.has_value(); });
  const ServerlessInput input{.gpu_micro_usd_per_hour = per_hour,
                              .gpu_milli = useful_milli,
                              .staff = facts.spec.staff,
                              .fleet_evidence = has_shared ? Evidence::modelled : Evidence::simulated};
  for (Statement& statement : serverless_cost(input)) out.statements.push_back(std::move(statement));
  const std::string serverless = serverless_words(input);
  out.page_answer = serverless.empty() ? "" : serverless.substr(1);
  out.answer = fmt::format(
      "The machines cost {} USD/h, {} USD/month.{} The prices contain no network, storage or control plane.",
      usd(per_hour), usd_sum(per_hour * kHoursPerMonth), serverless);
  return out;
}

}  // namespace capstan::plan
