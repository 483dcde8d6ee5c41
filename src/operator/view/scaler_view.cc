#include "operator/view/scaler_view.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number_text.h"
#include "kube/well_known_labels.h"
#include "manifest/quantity.h"
#include "manifest/scalars.h"
#include "model/role_names.h"
#include "settings/names.h"

namespace capstan::op {
namespace {

/// The largest price that is accepted: one million USD/h.
constexpr MicroUsd kMaxPerHour{1'000'000'000'000};

constexpr RequestCount kMaxInQueue = 1'000'000;    // requests in the queue of one replica
constexpr GpuCount kMaxGpus = 1'024;               // GPUs of one node
constexpr std::int64_t kMaxCpus = 4'096;           // CPUs of one node
constexpr std::int64_t kMaxMemoryGi = 65'536;      // memory of one node
constexpr std::int64_t kMaxStorageGi = 1'048'576;  // ephemeral storage of one node
constexpr std::int64_t kMaxPodsPerNode = 10'000;   // pods of one node
constexpr std::int64_t kMaxExtended = 1'000'000;   // amount of an extended resource of one node
constexpr std::int64_t kMaxInFleet = 10'000'000;   // GPUs, nodes

std::string string_of(kube::Json value) { return std::string(value.text()); }

Duration duration_of(kube::Json value, Duration fallback) {
  return manifest::read_duration(value.text()).value_or(fallback);
}

std::int64_t positive(kube::Json value, std::int64_t fallback) {
  return std::max<std::int64_t>(1, value.integer(fallback));
}

/// Reads a price, up to kMaxPerHour. The schema admits any number of digits, so a price may be too large for the type
/// of its value; it is then the largest price. An invalid price is 0: as a limit, it admits no purchase.
MicroUsd price_of(kube::Json value) {
  const std::string_view text = value.text();
  if (const std::optional<MicroUsd> price = manifest::read_usd(text)) {
    return std::clamp(*price, MicroUsd{}, kMaxPerHour);
  }
  const std::string_view whole = text.substr(0, text.find('.'));
  const bool is_number = !whole.empty() && whole.find_first_not_of("0123456789") == whole.npos;
  return is_number && !manifest::read_usd(whole) ? kMaxPerHour : MicroUsd{};
}

constexpr std::array<std::string_view, 3> kModeLabels{"Off", "Shadow", "Active"};

Mode mode_of(kube::Json value) { return enum_named<Mode>(kModeLabels, value.text()).value_or(Mode::shadow); }

std::optional<model::TopologyLevel> level_of(kube::Json value) {
  const std::string_view word = value.text();
  if (word == "Node") return model::TopologyLevel::node;
  if (word == "Rack") return model::TopologyLevel::rack;
  if (word == "Zone") return model::TopologyLevel::zone;
  return std::nullopt;
}

model::Role role_of(kube::Json value) {
  return enum_named<model::Role>(model::kRoleNames, value.text()).value_or(model::Role::both);
}

model::Slo read_slo(kube::Json slo) {
  model::Slo read;
  read.ttft = duration_of(slo["ttft"], {});
  read.tpot = duration_of(slo["tpot"], {});
  read.e2e = duration_of(slo["e2e"], {});
  if (const auto ppm = manifest::read_share_ppm(slo["attainment"].text())) {
    read.attainment_ppm = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*ppm, 0, 1'000'000));
  }
  return read;
}

model::FleetLimits read_limits(kube::Json limits) {
  model::FleetLimits read;
  const auto bounded = [](kube::Json value) { return std::clamp<std::int64_t>(value.integer(), 0, kMaxInFleet); };
  if (limits["gpus"].exists()) read.gpus = bounded(limits["gpus"]);
  if (limits["nodes"].exists()) read.nodes = bounded(limits["nodes"]);
  if (limits["usdPerHour"].exists()) read.price_per_hour = price_of(limits["usdPerHour"]);
  return read;
}

void read_windows(kube::Json windows, InferenceScaler::Variant& variant) {
  const auto fail = [&](std::string why) {
    if (variant.window_fault.empty()) variant.window_fault = std::move(why);
  };
  windows.for_each([&](kube::Json given) {
    model::BoundsWindow window;
    window.duration = duration_of(given["duration"], Duration{});
    Result<Cron> start = Cron::parse(given["start"].text());
    if (!start) return fail("start: " + start.error().message);
    if (window.duration <= Duration{} || window.duration > model::BoundsWindow::kLongest) {
      return fail("duration: found \"" + string_of(given["duration"]) + "\", expected more than 0 and 744h at most");
    }
    window.start = std::move(*start);
    if (given["minReplicas"].exists()) window.min = positive(given["minReplicas"], 1);
    if (given["maxReplicas"].exists()) window.max = positive(given["maxReplicas"], 1);
    if (variant.windows.size() < model::BoundsWindow::kMax) variant.windows.push_back(std::move(window));
  });
}

InferenceScaler::Role read_role(kube::Json role) {
  InferenceScaler::Role read;
  read.role = role_of(role["role"]);
  role["variants"].for_each([&](kube::Json variant) {
    const kube::Json profile = variant["engineProfile"];
    kube::TargetRef target = kube::read_target_ref(variant["targetRef"]);
    if (target.api_version.empty()) target.api_version = "apps/v1";
    read.variants.push_back({.target = std::move(target),
                             .min_replicas = positive(variant["minReplicas"], 1),
                             .max_replicas = positive(variant["maxReplicas"], 1),
                             .gpu = string_of(variant["gpu"]),
                             .engine_profile = {string_of(profile["model"]), string_of(profile["dtype"])},
                             .replica_price_per_hour = price_of(variant["costPerHour"]),
                             .survives = level_of(variant["survive"])});
    read_windows(variant["windows"], read.variants.back());
  });
  return read;
}

/// Reads a ratio with three decimals; 0 if it is not stated.
std::int64_t ratio_of(kube::Json value) {
  return std::clamp<std::int64_t>(manifest::read_quantity_milli(value.text()).value_or(0), 0,
                                  model::RoleLimits::kMaxRatioMilli);
}

std::int64_t share_of(kube::Json value, std::int64_t fallback) {
  return std::clamp<std::int64_t>(manifest::read_share_ppm(value.text()).value_or(fallback), 1, 1'000'000);
}

decide::scale::Rules read_rules(kube::Json given) {
  decide::scale::Rules rules;
  rules.scale_on =
      enum_named<settings::ScaleOn>(settings::kScaleOnLabels, given["scaleOn"].text()).value_or(settings::ScaleOn::all);
  const auto requests = [](kube::Json value, RequestCount fallback, RequestCount least) {
    return std::clamp<RequestCount>(value.integer(fallback), least, kMaxInQueue);
  };
  rules.waiting_above = requests(given["waitingAbove"], rules.waiting_above, 1);
  rules.waiting_below = requests(given["waitingBelow"], rules.waiting_below, 0);
  rules.kv_above_ppm = share_of(given["kvAbove"], rules.kv_above_ppm);
  rules.kv_below_ppm = share_of(given["kvBelow"], rules.kv_below_ppm);
  rules.latency_below_percent =
      std::max<std::int64_t>(1, share_of(given["latencyBelow"], rules.latency_below_percent * 10'000) / 10'000);
  if (given["goodputBelow"].exists()) rules.goodput_below_ppm = share_of(given["goodputBelow"], 0);
  return rules;
}

/// Returns the stated policy, else the policy whose settings are stated. Without either, it returns Capstan's own
/// policy, or Queue for an engine that does not count tokens.
InferenceScaler::Policy chosen_policy(kube::Json spec) {
  using Policy = InferenceScaler::Policy;
  const std::string_view word = spec["policy"].text();
  if (const auto stated = enum_named<Policy>(settings::kScalerPolicyLabels, word)) return *stated;
  if (word.empty() && spec["rules"].exists()) return Policy::rules;
  const auto& no_counts = settings::kEnginesWithoutTokenCounts;
  const bool counts_tokens = std::ranges::find(no_counts, spec["engine"].text()) == std::end(no_counts);
  return spec["queue"].exists() || !counts_tokens ? Policy::queue : Policy::capstan;
}

/// Returns the fault of a spec: the field, the value that was found, and what was expected. Empty if there is none. An
/// API server that checks the rules of the schema accepts no spec with such a fault, except for some faults of
/// windows, which these rules do not find.
std::string fault_of(const InferenceScaler& scaler) {
  using ScaleOn = decide::scale::Rules::ScaleOn;
  const decide::scale::Rules& rules = scaler.rules;
  for (const InferenceScaler::Role& role : scaler.roles) {
    for (const InferenceScaler::Variant& variant : role.variants) {
      if (!variant.window_fault.empty()) return "windows of " + variant.target.name + ": " + variant.window_fault;
    }
  }
  if (scaler.policy != InferenceScaler::Policy::rules) return {};
  if (rules.waiting_below >= rules.waiting_above) {
    return "spec.rules.waitingBelow: found " + std::to_string(rules.waiting_below) +
           ", expected less than waitingAbove, " + std::to_string(rules.waiting_above);
  }
  if (rules.kv_below_ppm >= rules.kv_above_ppm) {
    return "spec.rules.kvBelow: found " + percent_text(rules.kv_below_ppm) + ", expected less than kvAbove, " +
           percent_text(rules.kv_above_ppm);
  }
  const bool by_latency = rules.scale_on == ScaleOn::latency || rules.scale_on == ScaleOn::goodput;
  if (by_latency && scaler.slo.ttft == Duration{} && scaler.slo.tpot == Duration{}) {
    return "spec.rules.scaleOn: found a latency without a bound in spec.slo, expected ttft or tpot in spec.slo";
  }
  return {};
}

}  // namespace

std::string_view name_of(InferenceScaler::Policy policy) { return enum_name(settings::kScalerPolicyLabels, policy); }

std::string_view name_of(Mode mode) { return enum_name(kModeLabels, mode); }

InferenceScaler read_inference_scaler(kube::Json object) {
  const kube::Json spec = object["spec"];
  InferenceScaler scaler;
  scaler.meta = kube::read_meta(object);
  scaler.model = spec["model"].text();
  scaler.engine = spec["engine"].text();
  scaler.slo = read_slo(spec["slo"]);
  spec["roles"].for_each([&](kube::Json role) { scaler.roles.push_back(read_role(role)); });
  const kube::Json decode_per_prefill = spec["decodePerPrefill"];
  scaler.role_limits = {.decode_per_prefill_least_milli = ratio_of(decode_per_prefill["min"]),
                        .decode_per_prefill_most_milli = ratio_of(decode_per_prefill["max"])};
  const kube::Json signals = spec["signals"];
  scaler.interval =
      std::max<Duration>(duration_of(signals["interval"], scaler.interval), std::chrono::milliseconds(100));
  if (signals["pods"]["port"].exists()) scaler.port = positive(signals["pods"]["port"], 8000);
  if (signals["pods"]["path"].exists()) scaler.path = signals["pods"]["path"].text();
  scaler.prometheus_url = signals["prometheus"]["url"].text();
  scaler.prometheus_selector = signals["prometheus"]["selector"].text();
  for (std::size_t i = 0; i < scaler.custom.size(); ++i) {
    scaler.custom[i] = string_of(signals["custom"][kCustomMetrics[i].field]);
  }
  scaler.policy = chosen_policy(spec);
  scaler.rules = read_rules(spec["rules"]);
  scaler.fault = fault_of(scaler);
  if (!scaler.fault.empty()) {  // the scaler only recommends, and the status shows the fault (`Reporter`)
    scaler.policy = InferenceScaler::Policy::queue;
    scaler.rules = {};
  }
  const kube::Json queue = spec["queue"];
  scaler.waiting_per_replica = positive(queue["waitingPerReplica"], scaler.waiting_per_replica);
  if (queue["runningPerReplica"].exists()) scaler.running_per_replica = positive(queue["runningPerReplica"], 1);
  scaler.cool_down = duration_of(spec["behavior"]["coolDown"], scaler.cool_down);
  scaler.mode = mode_of(spec["mode"]);
  scaler.slo_acknowledged =
      kube::read_wall_time(scaler.meta.annotations.get(kSloAcknowledged)).value_or(kube::WallTime{});
  scaler.conditions = kube::read_conditions(object["status"]["conditions"]);
  const kube::Json last = object["status"]["lastDecision"];
  scaler.last_decision = {.id = string_of(last["id"]),
                          .time = string_of(last["time"]),
                          .reason = string_of(last["reason"]),
                          .recommended = last["recommended"].integer()};
  return scaler;
}

namespace {

/// Reads the topologies. With a defect, the policy has none, and `topology_fault` names the field.
void read_topologies(kube::Json list, FleetPolicy& policy) {
  std::vector<model::Topology> all = {model::standard_topology()};
  list.for_each([&](kube::Json item) {
    model::Topology& topology = all.emplace_back();
    topology.name = string_of(item["name"]);
    item["levels"].for_each([&](kube::Json level) {
      topology.levels.push_back({.name = string_of(level["name"]), .node_label = string_of(level["nodeLabel"])});
    });
    // KAI's topologies end with the level of single nodes. A node is its own domain.
    const bool ends_with_nodes =
        !topology.levels.empty() && topology.levels.back().node_label == kube::labels::kHostname;
    if (ends_with_nodes) topology.levels.pop_back();
  });
  if (const std::optional<model::TopologyFault> fault = model::find_fault(all)) {
    policy.topology_fault = "spec.topologies[" + std::to_string(fault->topology - 1) + "]";
    if (fault->depth) policy.topology_fault += ".levels[" + std::to_string(*fault->depth) + "]";
    policy.topology_fault += (fault->field == "node_label" ? ".nodeLabel" : "." + fault->field) + ": " + fault->message;
    return;
  }
  policy.topologies.assign(std::next(all.begin()), all.end());
}

FleetPolicy::InstanceType read_instance_type(kube::Json type) {
  const auto amount = [&](const char* key, std::int64_t most, std::int64_t unit) {
    const kube::Json number = type[key];
    return number.exists() ? std::optional(std::min(positive(number, 1), most) * unit) : std::nullopt;
  };
  FleetPolicy::InstanceType out{.name = string_of(type["name"]),
                                .gpu = string_of(type["gpu"]),
                                .gpus = std::min(positive(type["gpus"], 1), kMaxGpus),
                                .cpu_milli = amount("cpu", kMaxCpus, 1'000),
                                .memory_mib = amount("memoryGi", kMaxMemoryGi, 1'024),
                                .storage_mib = amount("ephemeralStorageGi", kMaxStorageGi, 1'024),
                                .pod_slots = amount("pods", kMaxPodsPerNode, 1),
                                .price_per_hour = price_of(type["usdPerHour"])};
  type["resources"].for_each([&](kube::Json resource) {
    out.resources[string_of(resource["name"])] =
        std::clamp<std::int64_t>(resource["amount"].integer(), 0, kMaxExtended);
  });
  return out;
}

}  // namespace

FleetPolicy read_fleet_policy(kube::Json object) {
  const kube::Json spec = object["spec"];
  const kube::Json layers = spec["layers"];
  FleetPolicy policy;
  policy.meta = kube::read_meta(object);
  policy.replicas = mode_of(layers["replicas"]);
  if (layers["placement"].exists()) policy.placement = mode_of(layers["placement"]);
  if (layers["nodes"].exists()) policy.nodes = mode_of(layers["nodes"]);
  policy.halt = spec["halt"].boolean();
  policy.shadow_of = kube::read_texts(spec["placement"]["shadowOf"]);
  read_topologies(spec["topologies"], policy);
  policy.node_labels = kube::read_string_map(spec["nodeSelector"]);
  policy.limits = read_limits(spec["limits"]);
  spec["instanceTypes"].for_each([&](kube::Json type) { policy.instance_types.push_back(read_instance_type(type)); });
  policy.hold = duration_of(spec["hold"], policy.hold);
  policy.consolidate_after = duration_of(spec["consolidateAfter"], policy.consolidate_after);
  if (const kube::Json breach = spec["sloBreach"]; breach.exists() && breach["metric"].text() == "ttft") {
    policy.slo_breach.emplace();
    policy.slo_breach->bound = duration_of(breach["bound"], {});
    policy.slo_breach->min_duration = duration_of(breach["for"], policy.slo_breach->min_duration);
  }
  policy.conditions = kube::read_conditions(object["status"]["conditions"]);
  return policy;
}

}  // namespace capstan::op
