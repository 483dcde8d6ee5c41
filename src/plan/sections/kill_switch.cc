#include "plan/sections/kill_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "plan/names.h"
#include "plan/sections/scaler_setup.h"

namespace capstan::plan {

namespace {

/// Sets or ends the halt of Capstan.
std::string halt_capstan(std::string_view value) {
  return fmt::format("kubectl patch fleetpolicy default --type merge --patch '{{\"spec\": {{\"halt\": {}}}}}'", value);
}

/// The commands for one role.
class KillSwitch {
 public:
  KillSwitch(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role)
      : namespace_(spec.namespace_),
        name_(workload_name(service, role.role)),
        kind_(workload_kind(service)),
        safe_(std::max(role.peak_ready, role.minimum)) {
    std::ranges::transform(kind_, kind_.begin(), ascii_lower);
  }

  std::vector<std::string> stop(std::string_view option) const {
    if (option == "keda") {
      return {fmt::format("kubectl -n {} annotate scaledobject {} autoscaling.keda.sh/paused-replicas={} --overwrite",
                          namespace_, name_, safe_)};
    }
    std::vector<std::string> commands;
    if (option == "hpa") commands.push_back(fmt::format("kubectl -n {} delete hpa {}", namespace_, name_));
    commands.push_back(fmt::format("kubectl -n {} scale {} {} --replicas {}", namespace_, kind_, name_, safe_));
    return commands;
  }

  std::vector<std::string> undo(std::string_view option) const {
    if (option == "keda") {
      return {fmt::format("kubectl -n {} annotate scaledobject {} autoscaling.keda.sh/paused-replicas-", namespace_,
                          name_)};
    }
    if (option == "hpa") return {fmt::format("kubectl apply -f replicas/hpa/{}.yaml", name_)};
    return {};
  }

 private:
  std::string namespace_, name_, kind_;
  ReplicaCount safe_ = 0;
};

std::string_view scaler_words(std::string_view option) {
  return option == "keda" ? "ScaledObject" : option == "hpa" ? "HPA" : "Capstan";
}

}  // namespace

std::vector<std::string> kill_switch_commands(const PlanFacts& facts) {
  std::vector<std::string> commands;
  const auto add = [&](const std::vector<std::string>& list, std::string_view comment) {
    for (const std::string& command : list) commands.push_back(fmt::format("{}  # {}", command, comment));
  };
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& fleet = facts.services[i];
    std::array options = kScalerOptions;
    std::ranges::stable_partition(options, [&](std::string_view o) { return o == scaler_option(fleet); });
    for (const std::string_view option : options) {
      const std::string stop = fmt::format("{}: stop {}", scaler_words(option), fleet.service);
      const std::string undo = fmt::format("{}: resume {}", scaler_words(option), fleet.service);
      if (option == "capstan") add({halt_capstan("true")}, stop);
      for (const RoleFleet& role : fleet.roles) {
        add(KillSwitch(facts.spec, facts.spec.services[i], role).stop(option), stop);
      }
      for (const RoleFleet& role : fleet.roles) {
        add(KillSwitch(facts.spec, facts.spec.services[i], role).undo(option), undo);
      }
      if (option == "capstan") add({halt_capstan("false")}, undo);
    }
  }
  return commands;
}

}  // namespace capstan::plan
