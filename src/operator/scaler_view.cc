#include "operator/scaler_view.h"

#include <algorithm>

#include "manifest/scalars.h"

namespace capstan::op {
namespace {

using kube::Json;

/// USD an hour of one replica that is believed: a million.
constexpr MicroUsd kMostPerHour{1'000'000'000'000};

constexpr GpuCount kMostGpus = 1'024;              // of one node
constexpr std::int64_t kMostInFleet = 10'000'000;  // GPUs, nodes

std::string string_of(Json value) { return std::string(value.text()); }

Duration duration_of(Json value, Duration otherwise) {
  return manifest::read_duration(value.text()).value_or(otherwise);
}

std::int64_t positive(Json value, std::int64_t otherwise) {
  return std::max<std::int64_t>(1, value.integer(otherwise));
}

/// Micro-USD; what is no price is 0, as if it was not stated.
MicroUsd price_of(Json value) {
  const MicroUsd price = manifest::read_usd(value.text()).value_or(MicroUsd{});
  return std::clamp(price, MicroUsd{}, kMostPerHour);
}

Mode mode_of(Json value) {
  const std::string_view word = value.text();
  return word == "Off" ? Mode::off : word == "Active" ? Mode::active : Mode::shadow;
}

model::Role role_of(Json value) {
  const std::string_view word = value.text();
  return word == "prefill" ? model::Role::prefill : word == "decode" ? model::Role::decode : model::Role::both;
}

model::Slo read_slo(Json slo) {
  model::Slo read;
  read.ttft = duration_of(slo["ttft"], {});
  read.tpot = duration_of(slo["tpot"], {});
  read.e2e = duration_of(slo["e2e"], {});
  if (const auto ppm = manifest::read_share_ppm(slo["attainment"].text())) {
    read.attainment_ppm = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*ppm, 0, 1'000'000));
  }
  return read;
}

model::FleetLimits read_limits(Json limits) {
  model::FleetLimits read;
  const auto bounded = [](Json value) { return std::clamp<std::int64_t>(value.integer(), 0, kMostInFleet); };
  if (limits["gpus"].exists()) read.gpus = bounded(limits["gpus"]);
  if (limits["nodes"].exists()) read.nodes = bounded(limits["nodes"]);
  if (limits["usdPerHour"].exists()) read.price_per_hour = price_of(limits["usdPerHour"]);
  return read;
}

InferenceScaler::Role read_role(Json role) {
  InferenceScaler::Role read;
  read.role = role_of(role["role"]);
  role["variants"].each([&](Json variant) {
    kube::TargetRef target = kube::read_target_ref(variant["targetRef"]);
    if (target.api_version.empty()) target.api_version = "apps/v1";
    read.variants.push_back({.target = std::move(target),
                             .min_replicas = positive(variant["minReplicas"], 1),
                             .max_replicas = positive(variant["maxReplicas"], 1),
                             .gpu = string_of(variant["gpu"]),
                             .replica_price_per_hour = price_of(variant["costPerHour"])});
  });
  return read;
}

}  // namespace

std::string_view name_of(Mode mode) {
  constexpr std::string_view kNames[] = {"Off", "Shadow", "Active"};
  return kNames[static_cast<std::size_t>(mode)];
}

InferenceScaler read_inference_scaler(Json object) {
  const Json spec = object["spec"];
  InferenceScaler scaler;
  scaler.meta = kube::read_meta(object);
  scaler.model = spec["model"].text();
  scaler.engine = spec["engine"].text();
  scaler.slo = read_slo(spec["slo"]);
  spec["roles"].each([&](Json role) { scaler.roles.push_back(read_role(role)); });
  const Json signals = spec["signals"];
  scaler.interval =
      std::max<Duration>(duration_of(signals["interval"], scaler.interval), std::chrono::milliseconds(100));
  if (signals["pods"]["port"].exists()) scaler.port = positive(signals["pods"]["port"], 8000);
  if (signals["pods"]["path"].exists()) scaler.path = signals["pods"]["path"].text();
  scaler.prometheus_url = signals["prometheus"]["url"].text();
  scaler.prometheus_selector = signals["prometheus"]["selector"].text();
  scaler.custom = {.waiting = string_of(signals["custom"]["waiting"]),
                   .running = string_of(signals["custom"]["running"]),
                   .kv_usage = string_of(signals["custom"]["kvUsage"])};
  const Json queue = spec["queue"];
  scaler.waiting_per_replica = positive(queue["waitingPerReplica"], scaler.waiting_per_replica);
  if (queue["runningPerReplica"].exists()) scaler.running_per_replica = positive(queue["runningPerReplica"], 1);
  scaler.cool_down = duration_of(spec["behavior"]["coolDown"], scaler.cool_down);
  scaler.mode = mode_of(spec["mode"]);
  scaler.slo_acknowledged =
      kube::read_wall_time(scaler.meta.annotations.get(kSloAcknowledged)).value_or(kube::WallTime{});
  scaler.conditions = kube::read_conditions(object["status"]["conditions"]);
  const Json last = object["status"]["lastDecision"];
  scaler.last_decision = {.id = string_of(last["id"]),
                          .time = string_of(last["time"]),
                          .reason = string_of(last["reason"]),
                          .recommended = last["recommended"].integer()};
  return scaler;
}

FleetPolicy read_fleet_policy(Json object) {
  const Json spec = object["spec"];
  const Json layers = spec["layers"];
  FleetPolicy policy;
  policy.meta = kube::read_meta(object);
  policy.replicas = mode_of(layers["replicas"]);
  if (layers["placement"].exists()) policy.placement = mode_of(layers["placement"]);
  if (layers["nodes"].exists()) policy.nodes = mode_of(layers["nodes"]);
  policy.halt = spec["halt"].boolean();
  policy.node_labels = kube::read_string_map(spec["nodeSelector"]);
  policy.limits = read_limits(spec["limits"]);
  spec["instanceTypes"].each([&](Json type) {
    policy.instance_types.push_back({.name = string_of(type["name"]),
                                     .gpu = string_of(type["gpu"]),
                                     .gpus = std::min(positive(type["gpus"], 1), kMostGpus),
                                     .price_per_hour = price_of(type["usdPerHour"])});
  });
  policy.hold = duration_of(spec["hold"], policy.hold);
  policy.consolidate_after = duration_of(spec["consolidateAfter"], policy.consolidate_after);
  if (const Json breach = spec["sloBreach"]; breach.exists() && breach["metric"].text() == "ttft") {
    policy.slo_breach.emplace();
    policy.slo_breach->bound = duration_of(breach["bound"], {});
    policy.slo_breach->lasts = duration_of(breach["for"], policy.slo_breach->lasts);
  }
  policy.conditions = kube::read_conditions(object["status"]["conditions"]);
  return policy;
}

}  // namespace capstan::op
