#include "plan/feasibility/remaining_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "plan/pools/pools.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

MachineUse& use_of(std::vector<MachineUse>& uses, const MachineSpec& machine, MicroUsd per_hour) {
  const auto known =
      std::ranges::find_if(uses, [&](const MachineUse& use) { return use.machine.name == machine.name; });
  return known == uses.end() ? uses.emplace_back(MachineUse{.machine = machine, .per_hour = per_hour}) : *known;
}

/// Returns the GPUs that the largest fleets of the planned services hold, and the GPUs that the services after the
/// next one need.
std::vector<MachineUse> uses_of_others(const std::vector<ServicePlan>& found, const std::vector<PeakNeed>& needs) {
  std::vector<MachineUse> uses;
  for (const ServicePlan& service : found) {
    for (const RoleFleet& role : service.roles) {
      const MicroUsd per_hour = price_of(role.machine, role.base).value_or(MicroUsd{0});
      use_of(uses, role.machine, per_hour).planned_gpus += role.maximum * role.gpus_per_replica();
    }
  }
  for (std::size_t i = found.size() + 1; i < needs.size(); ++i) {
    use_of(uses, needs[i].machine, needs[i].per_hour).later_gpus += needs[i].gpus;
  }
  return uses;
}

GpuCount gpus_of_tenant(const PlanSpec& spec, const std::vector<ServicePlan>& found, const std::string& tenant) {
  GpuCount gpus = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (spec.services[i].tenant != tenant) continue;
    for (const RoleFleet& role : found[i].roles) {
      gpus += ceil_div(role.maximum * role.gpus_per_replica(), slices_per_gpu(role.engine.gpu));
    }
  }
  return gpus;
}

/// Returns what the next service may have of `left`: all but the need of the later ones, and at least its share by
/// need.
/// @param needs needs of the next service and of the later ones
std::int64_t share_of(std::int64_t left, const std::vector<std::int64_t>& needs) {
  std::int64_t later = 0;
  for (std::size_t i = 1; i < needs.size(); ++i) later += needs[i];
  const std::int64_t all = std::max<std::int64_t>(needs.front() + later, 1);
  const auto by_need = static_cast<std::int64_t>(static_cast<__int128>(left) * needs.front() / all);
  return std::max({left - later, by_need, std::int64_t{0}});
}

/// @param all whole limit with its unit: "64 GPUs"
std::string left_words(std::string_view limit, const std::string& left, const std::string& all,
                       const std::string& service) {
  return all.starts_with(left + " ")
             ? fmt::format("{}: {}", limit, all)
             : fmt::format(
                   "{}: {} of {} are for {}; other services and the quotas of tenants without a service take the rest",
                   limit, left, all, service);
}

std::string gpu_count(GpuCount gpus) { return count_text(gpus, "GPU", "GPUs"); }

/// The part of a limit that is left for the machines of one type.
struct MachineShare {
  std::int64_t amount = 0;    ///< part of the limit for all nodes of this type
  std::int64_t machines = 0;  ///< machines that this part pays for
  GpuCount gpus = 0;          ///< GPUs of these machines that are left for the next service
  bool is_shared = false;     ///< true: other services use these nodes, too
};

/// Divides a limit over the machine types, and the part of the candidate's type over the services that use it.
/// @param cost_of  returns the cost of one machine, in the unit of the limit
template <typename Cost>
MachineShare share_on(std::int64_t limit, const std::vector<MachineUse>& others, const MachineUse& own, GpuCount need,
                      Cost cost_of) {
  const auto nodes_of = [](const MachineUse& use, GpuCount gpus) { return ceil_div(gpus, use.machine.gpus); };
  const std::int64_t cost = cost_of(own);
  std::int64_t left = limit;
  std::vector<std::int64_t> needs = {cost * nodes_of(own, own.planned_gpus + need + own.later_gpus)};
  for (const MachineUse& use : others) {
    if (use.machine.name == own.machine.name) continue;
    const std::int64_t taken = cost_of(use) * nodes_of(use, use.planned_gpus);
    left -= taken;
    needs.push_back(cost_of(use) * nodes_of(use, use.planned_gpus + use.later_gpus) - taken);
  }
  MachineShare share{.amount = share_of(std::max<std::int64_t>(left, 0), needs),
                     .is_shared = own.planned_gpus + own.later_gpus > 0};
  share.machines = share.amount / cost;
  const GpuCount free = std::max<GpuCount>(share.machines * own.machine.gpus - own.planned_gpus, 0);
  share.gpus = share_of(free, {need, own.later_gpus});
  return share;
}

std::string share_words(std::string_view limit, const MachineShare& share, const std::string& amount,
                        const std::string& all, const std::string& service, const MachineSpec& machine) {
  if (!share.is_shared) return left_words(limit, amount, all, service);
  return fmt::format("{}: {} pays for {} of {}, on which other services leave {} for {}", limit, all,
                     count_text(share.machines, "node", "nodes"), machine.name, gpu_count(share.gpus), service);
}

}  // namespace

std::vector<LimitedGpus> RemainingLimits::for_machine(const MachineSpec& machine, MicroUsd price, GpuCount need) const {
  MachineUse own{.machine = machine, .per_hour = price};
  for (const MachineUse& use : others) {
    if (use.machine.name == machine.name) own = use;
  }
  own.per_hour = price;
  std::vector<LimitedGpus> out;
  if (gpus) {
    const MachineShare share = share_on(*gpus - gpus_of_jobs, others, own, need,
                                        [](const MachineUse& use) { return whole_gpus_of(use.machine); });
    out.push_back({share.gpus, share_words("limits.gpus", share, std::to_string(share.amount), gpu_count(*gpus),
                                           service, machine)});
  }
  if (per_hour && price.count > 0) {
    const MachineShare share =
        share_on(per_hour->count, others, own, need, [](const MachineUse& use) { return use.per_hour.count; });
    out.push_back({share.gpus, share_words("limits.usd_per_hour", share, experiment::usd(share.amount),
                                           experiment::usd(per_hour->count) + " USD/h", service, machine)});
  }
  return out;
}

GpuCount whole_gpus_of(const MachineSpec& machine) {
  return std::max<GpuCount>(1, machine.gpus / slices_per_gpu(machine.gpu));
}

RemainingLimits whole_limits(const PlanSpec& spec, const ServiceSpec& service) {
  RemainingLimits out{.service = service.name, .gpus = spec.limits.gpus, .per_hour = spec.limits.per_hour};
  const auto tenant = std::ranges::find(spec.tenants, service.tenant, &TenantSpec::name);
  if (tenant != spec.tenants.end() && tenant->gpu_limit) {
    out.tenant_gpus = *tenant->gpu_limit;
    out.tenant_words = fmt::format("tenants.{}.gpu_limit: {}", tenant->name, gpu_count(*tenant->gpu_limit));
  }
  return out;
}

RemainingLimits remaining_limits(const PlanSpec& spec, const std::vector<ServicePlan>& found,
                                 const std::vector<PeakNeed>& needs) {
  const ServiceSpec& service = spec.services[found.size()];
  RemainingLimits out{.service = service.name,
                      .gpus = spec.limits.gpus,
                      .per_hour = spec.limits.per_hour,
                      .gpus_of_jobs = gpus_of_jobs(spec),
                      .others = uses_of_others(found, needs)};
  const auto tenant = std::ranges::find(spec.tenants, service.tenant, &TenantSpec::name);
  if (tenant != spec.tenants.end() && tenant->gpu_limit) {
    const std::int64_t left = std::max<std::int64_t>(0, *tenant->gpu_limit - gpus_of_tenant(spec, found, tenant->name));
    std::vector<std::int64_t> needed;
    for (std::size_t i = found.size(); i < needs.size(); ++i) {
      needed.push_back(spec.services[i].tenant == tenant->name ? needs[i].pod_gpus : 0);
    }
    out.tenant_gpus = share_of(left, needed);
    out.tenant_words = left_words(fmt::format("tenants.{}.gpu_limit", tenant->name), std::to_string(*out.tenant_gpus),
                                  gpu_count(*tenant->gpu_limit), service.name);
  }
  return out;
}

}  // namespace capstan::plan
