#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"
#include "plan/fleet/capacity.h"
#include "plan/objects/names.h"
#include "plan/pods/pod_spec.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kDrainMinS = 105, kAssumedDrainS = 150;
constexpr std::int64_t kMargin = 15;  ///< seconds between the end of the drain and the end of the grace period
constexpr std::int64_t kGraceMaxS = kNodeGraceMinutes * 60 - 60;
constexpr std::int64_t kStartupMinS = 600;
/// Usable share of a machine. The rest is for the node's own pods and the weight cache.
constexpr std::int64_t kUsablePercent = 85;

/// Returns the seconds of one output token: the bound of the SLO, or else the model's time at the full batch.
double seconds_per_token(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  if (service.slo.tpot > Duration{}) return std::chrono::duration<double>(service.slo.tpot).count();
  return replica_capacity(service, role, mean_request(service, fleet)).found.token_s;
}

void set_drain(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role, PodTimes& times) {
  const double token_s = seconds_per_token(service, fleet, role);
  const std::int32_t longest = service.load.answer.longest;
  times.is_answer_known = longest > 0 || role.role == model::Role::prefill;
  if (role.role == model::Role::prefill) {
    times.drain_s = kDrainMinS;
    times.drain_why = "prefill replicas hand each prompt over when it is computed";
  } else if (longest > 0) {
    times.drain_s = static_cast<std::int64_t>(longest * token_s) + 1;
    times.drain_why =
        fmt::format("the longest answer of {} tokens x {:.0f} ms, at least {} s", longest, token_s * 1000, kDrainMinS);
  } else {
    times.drain_s = kAssumedDrainS;
    times.drain_why = "a recorded load states no longest answer";
  }
  const std::int64_t longest_drain_s = kGraceMaxS - kPreStopS - kMargin;
  if (times.drain_s > longest_drain_s) {
    times.drain_why += fmt::format("; cut to what a node waits for, {} min", kNodeGraceMinutes);
  }
  times.drain_s = std::clamp(times.drain_s, kDrainMinS, longest_drain_s);
  times.grace_s = kPreStopS + times.drain_s + kMargin;
  // A worker must serve its part of the model until its leader has ended.
  times.worker_pre_stop_s = kPreStopS + times.drain_s;
  times.pre_stop_s = drains_itself(service.engine) ? kPreStopS : times.worker_pre_stop_s;
  if (!drains_itself(service.engine)) {
    times.drain_why += "; the engine has no flag for it, so the pod sleeps so long before SIGTERM";
  }
}

}  // namespace

PodTimes pod_times(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  PodTimes times;
  set_drain(service, fleet, role, times);
  const ColdStart start = cold_start_sum(fleet.start);
  const std::int64_t twice = 2 * std::chrono::ceil<std::chrono::seconds>(start.longest_without_node).count();
  times.startup_s = (std::max(twice, kStartupMinS) + 9) / 10 * 10;
  times.startup_why =
      fmt::format("2 x {}, the longest start on a node that exists{}", explain::time_text(start.longest_without_node),
                  twice < kStartupMinS ? "; raised to 10 min" : "");
  return times;
}

PodResourceNeeds resource_needs(const RoleFleet& role) {
  constexpr std::int64_t kAssumedCpus = 8, kAssumedGib = 64, kSharedGibPerGpu = 4;
  const std::int64_t devices = device_of(role).per_pod;
  // Slices, and the shares that MPS makes of a GPU, count as GPUs.
  const std::int64_t all = role.machine.gpus * role.gpu_shares;
  PodResourceNeeds share{.shared_memory_gib = devices > 1 ? kSharedGibPerGpu * devices : 0,
                         .is_machine_known = all > 0 && role.machine.vcpus > 0 && role.machine.memory_gib > 0};
  if (share.is_machine_known) {
    share.cpu = std::max<std::int64_t>(role.machine.vcpus * kUsablePercent * devices / all / 100, 1);
    share.memory_gib = std::max<std::int64_t>(role.machine.memory_gib * kUsablePercent * devices / all / 100, 1);
    share.why =
        fmt::format("{} of the {} {} of one {} with {} cores and {} GiB, of which pods may use {} %", devices, all,
                    mig_profile_of(role.engine.gpu) ? "slices"
                    : role.gpu_shares > 1           ? "shares"
                                                    : "GPUs",
                    role.machine.name, role.machine.vcpus, role.machine.memory_gib, kUsablePercent);
  } else {
    share.cpu = kAssumedCpus * devices;
    share.memory_gib = kAssumedGib * devices;
    share.why = fmt::format("the shape of {} is unknown; {} cores and {} GiB for each GPU", role.machine.name,
                            kAssumedCpus, kAssumedGib);
  }
  return share;
}

}  // namespace capstan::plan
