#include "plan/search/remaining_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiment/text/words.h"
#include "explain/words.h"
#include "plan/sections/pools.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

/// The largest fleets of the services that have their plan.
struct Taken {
  GpuCount node_gpus = 0;
  MicroUsd per_hour{};
};

Taken taken_by(const std::vector<ServicePlan>& found) {
  std::map<std::string, std::pair<const RoleFleet*, GpuCount>> by_machine;  // GPUs of the pods, slices for MIG
  for (const ServicePlan& service : found) {
    for (const RoleFleet& role : service.roles) {
      auto& [of_role, gpus] = by_machine[role.machine.name];
      of_role = &role;
      gpus += role.maximum * role.gpus_per_replica();
    }
  }
  Taken taken;
  for (const auto& [name, entry] : by_machine) {
    const auto& [role, gpus] = entry;
    const std::int64_t machines = ceil_div(gpus, role->machine.gpus);
    taken.node_gpus += machines * whole_gpus_of(role->machine);
    taken.per_hour = taken.per_hour + price_of(role->machine, role->base).value_or(MicroUsd{0}) * machines;
  }
  return taken;
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
/// @param needs  of the next service and of the later ones
std::int64_t share_of(std::int64_t left, const std::vector<std::int64_t>& needs) {
  std::int64_t later = 0;
  for (std::size_t i = 1; i < needs.size(); ++i) later += needs[i];
  const std::int64_t all = std::max<std::int64_t>(needs.front() + later, 1);
  const auto by_need = static_cast<std::int64_t>(static_cast<__int128>(left) * needs.front() / all);
  return std::max({left - later, by_need, std::int64_t{0}});
}

/// @param all  with its unit: "64 GPUs"
std::string left_words(std::string_view limit, const std::string& left, const std::string& all,
                       const std::string& service) {
  return all.starts_with(left + " ")
             ? fmt::format("{}: {}", limit, all)
             : fmt::format("{}: {} of {} are left for {} by other services and by quotas of tenants without a service",
                           limit, left, all, service);
}

std::string gpu_count(GpuCount gpus) { return explain::count_text(gpus, "GPU", "GPUs"); }

}  // namespace

std::string RemainingLimits::words() const {
  std::string out;
  for (const std::string* part : {&gpus_words, &per_hour_words, &tenant_words}) {
    if (!part->empty()) out += (out.empty() ? "" : "; ") + *part;
  }
  return out.empty() ? "no limit" : out;
}

GpuCount whole_gpus_of(const MachineSpec& machine) {
  return std::max<GpuCount>(1, machine.gpus / slices_per_gpu(machine.gpu));
}

RemainingLimits remaining_limits(const PlanSpec& spec, const std::vector<ServicePlan>& found,
                                 const std::vector<PeakNeed>& needs) {
  const ServiceSpec& service = spec.services[found.size()];
  const auto needs_from_here = [&](auto&& need_of) {
    std::vector<std::int64_t> values;
    for (std::size_t i = found.size(); i < needs.size(); ++i) values.push_back(need_of(i));
    return values;
  };
  RemainingLimits out;
  const Taken taken = taken_by(found);
  if (spec.limits.gpus) {
    const std::int64_t left = std::max<std::int64_t>(0, *spec.limits.gpus - gpus_of_jobs(spec) - taken.node_gpus);
    out.gpus = share_of(left, needs_from_here([&](std::size_t i) { return needs[i].node_gpus; }));
    out.gpus_words = left_words("limits.gpus", std::to_string(*out.gpus), gpu_count(*spec.limits.gpus), service.name);
  }
  if (spec.limits.per_hour) {
    const std::int64_t left = std::max<std::int64_t>(0, spec.limits.per_hour->count - taken.per_hour.count);
    out.per_hour = MicroUsd{share_of(left, needs_from_here([&](std::size_t i) { return needs[i].per_hour.count; }))};
    out.per_hour_words = left_words("limits.usd_per_hour", experiment::usd(out.per_hour->count),
                                    experiment::usd(spec.limits.per_hour->count) + " USD/h", service.name);
  }
  const auto tenant = std::ranges::find(spec.tenants, service.tenant, &TenantSpec::name);
  if (tenant != spec.tenants.end() && tenant->gpu_limit) {
    const std::int64_t left = std::max<std::int64_t>(0, *tenant->gpu_limit - gpus_of_tenant(spec, found, tenant->name));
    out.tenant_gpus = share_of(left, needs_from_here([&](std::size_t i) {
                                 return spec.services[i].tenant == tenant->name ? needs[i].pod_gpus : 0;
                               }));
    out.tenant_words = left_words(fmt::format("tenants.{}.gpu_limit", tenant->name), std::to_string(*out.tenant_gpus),
                                  gpu_count(*tenant->gpu_limit), service.name);
  }
  return out;
}

}  // namespace capstan::plan
