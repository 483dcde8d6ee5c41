#include <nlohmann/json.hpp>
#include <variant>

#include "settings/names.h"
#include "settings/policy.h"

namespace capstan::settings {
namespace {

using Json = nlohmann::ordered_json;
namespace scale = decide::scale;
namespace provision = decide::provision;

std::string text(Duration duration) { return manifest::duration_text(duration); }
/// Formats a share in ppm as a percentage that the reader reads exactly: "80%", "0.0005%".
std::string share(std::int64_t ppm) {
  std::string text = std::to_string(ppm / 10'000);
  if (ppm % 10'000 != 0) text += '.' + std::to_string(10'000 + ppm % 10'000).substr(1);
  return text + '%';
}

Json rules(const scale::HpaRules& from) {
  Json json = {{"stabilization", text(from.stabilization)}, {"select", enum_name(kSelectKeys, from.select)}};
  json["policies"] = Json::array();
  for (const scale::HpaRatePolicy& policy : from.policies) {
    json["policies"].push_back(
        {{"kind", enum_name(kRateKeys, policy.kind)}, {"value", policy.value}, {"period", text(policy.period)}});
  }
  return json;
}

void add(Json& json, const scale::HpaSettings& hpa) {
  json["sync_period"] = text(hpa.sync_period);
  json["tolerance"] = share(hpa.tolerance_up_per_mille * 1000);
  json["silence_holds"] = hpa.blocks_scale_down_if_silent;
  if (hpa.behavior) {
    json["behavior"] = {{"scale_up", rules(hpa.behavior->up)}, {"scale_down", rules(hpa.behavior->down)}};
  } else {
    json["downscale_stabilization"] = text(hpa.downscale_stabilization);
  }
}

struct ScaleWriter {
  Json operator()(const scale::Fixed& fixed) const {
    return {{"policy", "fixed"}, {"replicas", fixed.replicas}, {"period", text(fixed.period)}};
  }
  Json operator()(const scale::DutyCycleHpa& duty) const { return by_target("duty_cycle_hpa", duty); }
  Json operator()(const scale::MemoryHpa& memory) const { return by_target("memory_hpa", memory); }
  Json operator()(const scale::QueueHpa& queue) const {
    Json json = {{"policy", "queue_hpa"}, {"waiting_per_replica", queue.waiting_per_replica}};
    if (queue.running_per_replica) json["running_per_replica"] = *queue.running_per_replica;
    add(json, queue.hpa);
    return json;
  }
  Json operator()(const scale::Capstan& capstan) const {
    Json json = {{"policy", "capstan"}, {"sync_period", text(capstan.sync_period)}};
    if (capstan.attainment_ppm > 0) json["attainment"] = share(capstan.attainment_ppm);
    json["to_zero"] = enum_name(kScaleToZeroKeys, capstan.to_zero);
    return json;
  }

  Json operator()(const scale::Rules& rules) const {
    Json json = {{"policy", "rules"},
                 {"scale_on", enum_name(kScaleOnKeys, rules.scale_on)},
                 {"waiting_above", rules.waiting_above},
                 {"waiting_below", rules.waiting_below},
                 {"kv_above", share(rules.kv_above_ppm)},
                 {"kv_below", share(rules.kv_below_ppm)},
                 {"latency_below", share(rules.latency_below_percent * 10'000)}};
    if (rules.goodput_below_ppm > 0) json["goodput_below"] = share(rules.goodput_below_ppm);
    json["cool_down"] = text(rules.cool_down);
    json["sync_period"] = text(rules.sync_period);
    return json;
  }

  template <typename Hpa>
  static Json by_target(const char* name, const Hpa& policy) {
    Json json = {{"policy", name}, {"target", share(policy.target_percent * 10'000)}};
    add(json, policy.hpa);
    return json;
  }
};

std::string_view policy_name(const provision::Consolidation& consolidation) {
  return consolidation.enabled ? enum_name(kConsolidationKeys, consolidation.policy) : "never";
}

Json consolidation(const provision::Consolidation& from) {
  Json json = {{"policy", policy_name(from)}};
  if (!from.enabled) return json;
  json["after"] = text(from.after);
  json["poll"] = text(from.poll);
  json["budget_percent"] = from.budget_percent;
  if (from.policy == model::ConsolidationPolicy::when_empty_or_underutilized) {
    json["use_below"] = share(from.use_below_ppm);
  }
  return json;
}

void add_passes(Json& json, const decide::PassesOff& off) {
  for (const std::string& name : off) json["passes"][name] = "off";
}

}  // namespace

std::string to_json(const decide::scale::Policy& policy) { return std::visit(ScaleWriter{}, policy).dump(); }

std::string to_json(const decide::place::Policy& policy) {
  Json json{{"policy", decide::place::name(policy.kind)},
            {"period", text(policy.period)},
            {"assume_for", text(policy.assume_for)},
            {"broken_for", text(policy.broken_for)}};
  add_passes(json, policy.off);
  return json.dump();
}

std::string to_json(const decide::provision::Policy& policy) {
  // The JSON states every setting, so the preset does not matter. Every per-pod provisioner is written as `karpenter`.
  const bool group = policy.kind == provision::Policy::Kind::group;
  Json json = {{"policy", group ? "group" : "karpenter"}, {"scan_interval", text(policy.scan_interval)}};
  if (group) {
    json["hold"] = text(policy.hold);
  } else {
    json["batch_idle"] = text(policy.batch_idle);
    json["batch_max"] = text(policy.batch_max);
  }
  json["backoff"] = text(policy.backoff);
  json["backoff_max"] = text(policy.backoff_max);
  json["ask_timeout"] = text(policy.ask_timeout);
  json["min_nodes"] = policy.min_nodes;
  json["consolidation"] = consolidation(policy.consolidation);
  add_passes(json, policy.off);
  return json.dump();
}

}  // namespace capstan::settings
