#include "plan/feasibility/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "plan/feasibility/machine_bound.h"
#include "plan/feasibility/remaining_limits.h"
#include "plan/pods/engine_command.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

/// Returns the letters and digits of a word in lower case.
std::string plain_word(std::string_view word) {
  std::string plain;
  for (const char c : word) {
    const char lower = ascii_lower(c);
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) plain += lower;
  }
  return plain;
}

constexpr std::array<std::pair<std::string_view, AskedSignal>, 36> kSignalWords = {{
    {"queue", AskedSignal::queue},
    {"queuedepth", AskedSignal::queue},
    {"vllmnumrequestswaiting", AskedSignal::queue},
    {"kv", AskedSignal::kv},
    {"kvcache", AskedSignal::kv},
    {"kvcacheusage", AskedSignal::kv},
    {"vllmkvcacheusageperc", AskedSignal::kv},
    {"latency", AskedSignal::latency},
    {"ttft", AskedSignal::latency},
    {"goodput", AskedSignal::goodput},
    {"gpu", AskedSignal::duty_cycle},
    {"gpuutil", AskedSignal::duty_cycle},
    {"gpuutilization", AskedSignal::duty_cycle},
    {"gpuutilisation", AskedSignal::duty_cycle},
    {"gpuusage", AskedSignal::duty_cycle},
    {"gpudutycycle", AskedSignal::duty_cycle},
    {"dutycycle", AskedSignal::duty_cycle},
    {"utilization", AskedSignal::duty_cycle},
    {"utilisation", AskedSignal::duty_cycle},
    {"dcgmfidevgpuutil", AskedSignal::duty_cycle},
    {"dcgmgpuutilization", AskedSignal::duty_cycle},
    {"nvidiagpudutycycle", AskedSignal::duty_cycle},
    {"nvgpuutilization", AskedSignal::duty_cycle},
    {"dcgmfiprofgrengineactive", AskedSignal::duty_cycle},
    {"grengineactive", AskedSignal::duty_cycle},
    {"containeracceleratordutycycle", AskedSignal::duty_cycle},
    {"nvidiasmiutilizationgpuratio", AskedSignal::duty_cycle},
    {"gpumemory", AskedSignal::gpu_memory},
    {"gpumemoryutilization", AskedSignal::gpu_memory},
    {"memory", AskedSignal::gpu_memory},
    {"memoryutilization", AskedSignal::gpu_memory},
    {"dcgmfidevfbused", AskedSignal::gpu_memory},
    {"dcgmfidevfbusedpercent", AskedSignal::gpu_memory},
    {"nvgpumemoryusedbytes", AskedSignal::gpu_memory},
    {"dcgmfidevmemcopyutil", AskedSignal::gpu_memory},
    {"vram", AskedSignal::gpu_memory},
}};

constexpr std::string_view kRightSignals =
    "Scale on queue depth where prompts are the bottleneck, on KV-cache use where answers are, or on goodput where "
    "both are. Leave asked.scale_on out, and the plan chooses the signal and shows the arithmetic.";

/// Returns the meaning of a word that is not in the list: other names of the duty cycle and of the GPU's memory, such
/// as DCGM_FI_PROF_SM_ACTIVE and nvidia_gpu_memory_used_bytes. Nothing if it is another word.
std::optional<AskedSignal> asked_gpu_signal(std::string_view plain) {
  const auto has = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return plain.contains(part); });
  };
  if (has({"gpumem", "vram", "framebuffer", "dcgmfidevfb", "dcgmfiprofdram"})) return AskedSignal::gpu_memory;
  if (has({"gpuutil", "gpuusage", "gpuload", "gpubusy", "dutycycle", "engineactive", "smactive", "smoccupancy",
           "pipetensoractive"})) {
    return AskedSignal::duty_cycle;
  }
  return std::nullopt;
}

std::string place_of(const PlanSpec& spec, const std::string& path) {
  const auto found = spec.places.find(path);
  return found == spec.places.end() ? spec.file : found->second;
}

void refuse_signal(const PlanSpec& spec, std::vector<Refusal>& out) {
  const std::optional<AskedSignal> signal = asked_signal(spec.asked.scale_on);
  if (signal == AskedSignal::duty_cycle) {
    out.push_back(
        {place_of(spec, "asked.scale_on"),
         fmt::format("asked.scale_on: {} (duty cycle of the GPU)", spec.asked.scale_on),
         "The duty cycle says whether a kernel ran, not how much work there was: an engine with continuous batching "
         "shows about 100 % with 10 requests and with 100. A scaler on it does scale up, because 100 % is above every "
         "target. It then stays at its maximum and does not scale down while a single request runs.",
         std::string(kRightSignals)});
  } else if (signal == AskedSignal::gpu_memory) {
    out.push_back(
        {place_of(spec, "asked.scale_on"), fmt::format("asked.scale_on: {} (memory of the GPU)", spec.asked.scale_on),
         "The engine reserves its KV cache at start, up to --gpu-memory-utilization. The memory in use is near 90 % "
         "with one request and with a hundred, so it follows no load, and a scaler on it never scales down.",
         std::string(kRightSignals)});
  }
}

void refuse_consolidation(const PlanSpec& spec, std::vector<Refusal>& out) {
  if (spec.asked.consolidation != "WhenEmptyOrUnderutilized") return;
  out.push_back(
      {place_of(spec, "asked.consolidation"), "asked.consolidation: WhenEmptyOrUnderutilized on a GPU pool",
       "Karpenter then evicts running replicas to save a node. Their requests fail or are cut, and each replica loads "
       "its weights again.",
       "Use WhenEmpty with consolidateAfter 1h. WhenEmpty alone does not stop drift, expiry and interruption, so the "
       "plan also sets budgets and a termination grace period."});
}

void refuse_missing_gangs(const PlanSpec& spec, std::vector<Refusal>& out) {
  const bool is_declined = spec.asked.declines_gang_scheduling;
  if (!is_declined && spec.cluster.gang_scheduler != GangScheduler::none) return;
  for (const ServiceSpec& service : spec.services) {
    if (service.pods_per_replica <= 1) continue;
    out.push_back(
        {place_of(spec, is_declined ? "asked.gang_scheduling" : "cluster.gang_scheduler"),
         fmt::format("{}: services.{} has {} pods per replica",
                     is_declined ? "asked.gang_scheduling: false" : "cluster.gang_scheduler: none", service.name,
                     service.pods_per_replica),
         "Without gang scheduling, some pods of a replica can be bound while the others wait. The bound ones hold paid "
         "GPUs and serve nothing, and two such replicas can block each other.",
         fmt::format(
             "Keep gang scheduling (cluster.gang_scheduler: kai or kueue), or set pods_per_replica: 1 for {} "
             "and use a machine with all GPUs of a replica. One pod with all GPUs of a replica is atomic already, "
             "with any tensor parallelism, and needs no gang scheduler.",
             service.name)});
  }
}

/// Refuses services for whose engine the plan has no command, because such a plan could not be applied.
void refuse_missing_commands(const PlanSpec& spec, std::vector<Refusal>& out) {
  for (std::size_t i = 0; i < spec.services.size(); ++i) {
    const ServiceSpec& service = spec.services[i];
    RoleFleet role{.pods = service.pods_per_replica};
    role.engine.weight_dtype = service.dtype;
    const std::optional<MissingCommand> missing = missing_command(service, role);
    if (!missing) continue;
    std::string instead = missing->instead;
    if (instead.front() >= 'a' && instead.front() <= 'z') instead.front() += 'A' - 'a';
    out.push_back({place_of(spec, fmt::format("services.{}", i)),
                   fmt::format("services.{}: its workload cannot be written", service.name),
                   missing->why + ", so the plan could not be applied.", instead + "."});
  }
}

/// Refuses a cluster that is one machine, because there is nothing to scale.
void refuse_single_machine(const PlanSpec& spec, std::vector<Refusal>& out) {
  const std::optional<MachineBound> bound = machine_bound(spec);
  if (!bound || bound->machines != 1) return;
  const std::vector<MachineSpec>& machines = spec.cluster.machines;
  const auto existing = std::ranges::find(machines, std::int64_t{1}, &MachineSpec::existing);
  const bool exists = existing != machines.end();
  const auto price = [&](const MachineSpec& machine) {
    return lowest_price(machine, spec.cluster).value_or(MicroUsd{std::numeric_limits<std::int64_t>::max()});
  };
  const MachineSpec& machine = exists             ? *existing
                               : bound->is_budget ? *std::ranges::min_element(machines, {}, price)
                                                  : *std::ranges::min_element(machines, {}, whole_gpus_of);
  const std::string raised = bound->raised.empty() ? "" : fmt::format(", and raise {}, at least", bound->raised);
  out.push_back(
      {place_of(spec, exists ? "cluster" : "limits"),
       exists ? fmt::format("cluster: one machine ({} with {} x {}) and nothing that may be bought", machine.name,
                            machine.gpus, machine.gpu)
              : fmt::format("{}{} allows only one machine ({} with {} x {})", bound->limit,
                            bound->is_budget ? " USD/h" : "", machine.name, machine.gpus, machine.gpu),
       "There is no second machine for a node provisioner to add, no other domain to fail over to, and no replica that "
       "a scaler can add beyond these GPUs. The machine costs the same with and without requests.",
       fmt::format(
           "Use managed serverless inference first, which costs nothing without requests. To plan a cluster, {}",
           spec.cluster.cloud == Cloud::on_premises
               ? "state the machines that you will have with `existing`, two at least."
           : exists ? fmt::format("allow machines to be bought: set cluster.provisioner to karpenter or "
                                  "cluster_autoscaler{}.",
                                  raised)
                    : fmt::format("allow a second machine: {}, at least.", bound->raised))});
}

}  // namespace

std::optional<AskedSignal> asked_signal(std::string_view word) {
  const std::string plain = plain_word(word);
  const auto known =
      std::ranges::find(kSignalWords, std::string_view(plain), &std::pair<std::string_view, AskedSignal>::first);
  return known == kSignalWords.end() ? asked_gpu_signal(plain) : std::optional(known->second);
}

bool asks_for_another_signal(const AskedSpec& asked) {
  return !asked.scale_on.empty() && asked_signal(asked.scale_on) != AskedSignal::goodput;
}

std::vector<Refusal> refusals(const PlanSpec& spec) {
  std::vector<Refusal> out;
  refuse_signal(spec, out);
  refuse_consolidation(spec, out);
  refuse_missing_gangs(spec, out);
  refuse_missing_commands(spec, out);
  refuse_single_machine(spec, out);
  return out;
}

}  // namespace capstan::plan
