#include "plan/sections/kill_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "plan/objects/names.h"
#include "plan/sections/scaler_setup.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kUsage =
    R"sh(#   sh kill-switch.sh         on a breach of the SLO: forbids the autoscalers to remove replicas, raises the
#                             replicas to the most that were ready at once in the simulations, and brings back the
#                             saved signals
#   sh kill-switch.sh save    while the SLO holds, before an autoscaler is changed: saves its signals in last-good/
#   sh kill-switch.sh resume  when the SLO holds again: the autoscalers may remove replicas
# It works on the autoscaler that each workload has in the cluster, and a breach lowers no number of replicas.
set -u
cd "$(dirname "$0")"
status=0
)sh";

constexpr std::string_view kFunctions = R"sh(
has() { # KIND NAME
  kubectl --namespace "$namespace" get "$1" "$2" >/dev/null 2>&1
}
patch() { # KIND NAME PATCH
  kubectl --namespace "$namespace" patch "$1" "$2" --type merge --patch "$3" || status=1
}
at_least() { # KIND NAME FIELD VALUE DEFAULT: raises a number, and lowers none
  now=$(kubectl --namespace "$namespace" get "$1" "$2" --output "jsonpath={.spec.$3}") || { status=1; return; }
  [ "${now:-$5}" -ge "$4" ] || patch "$1" "$2" "{\"spec\": {\"$3\": $4}}"
}
scale_down() { # KIND NAME POLICY: Disabled or Max
  behavior="{\"behavior\": {\"scaleDown\": {\"selectPolicy\": \"$3\"}}}"
  [ "$1" = scaledobject ] && behavior="{\"advanced\": {\"horizontalPodAutoscalerConfig\": $behavior}}"
  patch "$1" "$2" "{\"spec\": $behavior}"
}
save() { # KIND NAME FIELD: without a field the whole spec
  has "$1" "$2" || return 0
  saved=$(kubectl --namespace "$namespace" get "$1" "$2" --output "jsonpath={.spec${3:+.$3}}") || { status=1; return; }
  [ -n "$saved" ] || return 0
  [ -z "$3" ] || saved="{\"$3\": $saved}"
  mkdir -p last-good
  printf '{"spec": %s}\n' "$saved" >"last-good/$1-$2.json"
}
restore() { # KIND NAME
  if [ -s "last-good/$1-$2.json" ]; then
    patch "$1" "$2" "$(cat "last-good/$1-$2.json")"
  else
    echo "$1 $2 keeps its signals, because none were saved" >&2
  fi
}
halt() { # true or false
  kubectl patch fleetpolicy default --type merge --patch "{\"spec\": {\"halt\": $1}}" || status=1
}

stop_workload() { # NAME KIND SERVICE MINIMUM PEAK MAXIMUM FLEET: constant fleets have no autoscaler
  found=no
  if has inferencescaler "$3"; then
    found=yes
    halt true
    restore inferencescaler "$3"
  fi
  if has scaledobject "$1"; then
    found=yes
    scale_down scaledobject "$1" Disabled
    at_least scaledobject "$1" maxReplicaCount "$6" 100
    at_least scaledobject "$1" minReplicaCount "$5" 0
    restore scaledobject "$1"
  fi
  if has horizontalpodautoscaler "$1"; then
    found=yes
    scale_down horizontalpodautoscaler "$1" Disabled
    at_least horizontalpodautoscaler "$1" maxReplicas "$6" 1
    at_least horizontalpodautoscaler "$1" minReplicas "$5" 1
    restore horizontalpodautoscaler "$1"
  fi
  [ "$found" = yes ] || [ "$7" = constant ] || { echo "no autoscaler of $1 was found" >&2; status=1; }
  at_least "$2" "$1" replicas "$5" 1
}
save_workload() {
  save inferencescaler "$3" ""
  save scaledobject "$1" triggers
  save horizontalpodautoscaler "$1" metrics
}
resume_workload() {
  if has inferencescaler "$3"; then halt false; fi
  if has scaledobject "$1"; then
    patch scaledobject "$1" "{\"spec\": {\"minReplicaCount\": $4}}"
    scale_down scaledobject "$1" Max
  fi
  if has horizontalpodautoscaler "$1"; then
    patch horizontalpodautoscaler "$1" "{\"spec\": {\"minReplicas\": $4}}"
    scale_down horizontalpodautoscaler "$1" Max
  fi
}

action=${1:-stop}
case "$action" in
stop | save | resume) ;;
*)
  echo "usage: sh kill-switch.sh [save | resume]" >&2
  exit 64
  ;;
esac
)sh";

std::string lower_kind(const ServiceSpec& service) {
  std::string kind(workload_kind(service));
  std::ranges::transform(kind, kind.begin(), ascii_lower);
  return kind;
}

/// Returns the number of replicas that carried the load of a role in the simulations: the most that were ready at once.
ReplicaCount safe_replicas(const RoleFleet& role) {
  return std::clamp(role.peak_ready, role.minimum, std::max(role.minimum, role.maximum));
}

/// Returns the command that keeps an autoscaler of the plan from removing replicas. Capstan is halted completely.
std::string forbid_scale_down_command(const PlanSpec& spec, std::string_view option, std::string_view workload) {
  constexpr std::string_view kBehavior = R"("behavior": {"scaleDown": {"selectPolicy": "Disabled"}})";
  if (option == "capstan") {
    return R"(kubectl patch fleetpolicy default --type merge --patch '{"spec": {"halt": true}}')";
  }
  const bool is_keda = option == "keda";
  const std::string patch =
      is_keda ? fmt::format("{{\"advanced\": {{\"horizontalPodAutoscalerConfig\": {{{}}}}}}}", kBehavior)
              : fmt::format("{{{}}}", kBehavior);
  return fmt::format("kubectl -n {} patch {} {} --type merge --patch '{{\"spec\": {}}}'", spec.namespace_,
                     is_keda ? "scaledobject" : "hpa", workload, patch);
}

}  // namespace

std::string kill_switch_script(const PlanFacts& facts) {
  std::string name = facts.spec.name;
  std::ranges::replace(name, '\n', ' ');
  std::string out = fmt::format("#!/bin/sh\n# Kill switch of the plan {}.\n{}namespace={}\n{}", name, kUsage,
                                facts.spec.namespace_, kFunctions);
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    for (const RoleFleet& role : facts.services[i].roles) {
      out += fmt::format("\"${{action}}_workload\" {} {} {} {} {} {} {}\n", workload_name(service, role.role),
                         lower_kind(service), service.name, role.minimum, safe_replicas(role),
                         std::max(role.minimum, role.maximum),
                         facts.services[i].scaler == ScalerKind::constant ? "constant" : "scaled");
    }
  }
  return out + "exit \"$status\"\n";
}

std::string kill_switch_words(std::span<const ServicePlan> services) {
  if (std::ranges::all_of(services, [](const ServicePlan& fleet) { return fleet.scaler == ScalerKind::constant; })) {
    return fmt::format(
        "If TtftP99AboveSlo fires, run sh {}. It removes no replica, and raises the replicas to those of the plan. It "
        "also stops an autoscaler that was applied from removing replicas.",
        kKillSwitchFile);
  }
  return fmt::format(
      "If TtftP99AboveSlo fires after a change of an autoscaler, run sh {}. It removes no replica, raises the replicas "
      "to the peak of the simulations, and restores the metrics on which the autoscalers scale, as saved last.",
      kKillSwitchFile);
}

std::vector<std::string> kill_switch_commands(const PlanFacts& facts) {
  std::vector<std::string> commands = {
      fmt::format("sh {}  # on a breach of the SLO: removes no replica", kKillSwitchFile),
      fmt::format("sh {} save  # while the SLO holds, before an autoscaler is changed", kKillSwitchFile),
      fmt::format("sh {} resume  # when the SLO holds again", kKillSwitchFile)};
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& fleet = facts.services[i];
    if (fleet.scaler == ScalerKind::constant) continue;
    for (const RoleFleet& role : fleet.roles) {
      const std::string workload = workload_name(facts.spec.services[i], role.role);
      std::string command = fmt::format("{}  # its first step for {}: the replicas that run stay",
                                        forbid_scale_down_command(facts.spec, scaler_option(fleet), workload),
                                        scaler_option(fleet) == "capstan" ? "Capstan" : workload);
      if (std::ranges::find(commands, command) == commands.end()) commands.push_back(std::move(command));
    }
  }
  return commands;
}

std::string save_signals_command(const PlanFacts& facts) {
  std::string files;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const std::string_view option = scaler_option(facts.services[i]);
    if (option.empty()) continue;
    if (option == "capstan") {
      files += fmt::format(" --filename=replicas/capstan/{}.yaml", facts.spec.services[i].name);
      continue;
    }
    for (const RoleFleet& role : facts.services[i].roles)
      files += fmt::format(" --filename=replicas/{}/{}.yaml", option, workload_name(facts.spec.services[i], role.role));
  }
  return files.empty() ? std::string()
                       : fmt::format("kubectl diff{} >/dev/null 2>&1 || sh {} save", files, kKillSwitchFile);
}

}  // namespace capstan::plan
