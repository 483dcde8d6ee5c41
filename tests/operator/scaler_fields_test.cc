// Checks that a view reads every spec field of schema/crds, except for the fields in an explicit list.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "manifest/yaml.h"
#include "operator/view/queue_view.h"
#include "operator/view/scaler_view.h"
#include "schema/field.h"

namespace capstan::op {
namespace {

using nlohmann::json;

/// Returns a value that the field allows. `other` selects a second one.
json sample(const schema::Field& field, bool other) {
  if (field.values.size() > 1) return field.values[other ? 1 : 0];
  if (field.values.size() == 1) return other ? "/b" : field.values[0];
  if (field.type == "integer") return other ? 7 : 5;
  if (field.type == "boolean") return other;
  if (field.name == "start") return other ? "@daily" : "@hourly";
  if (field.format == "duration") return other ? "70s" : "50s";
  if (field.pattern.find('%') != std::string::npos) return other ? "70%" : "50%";
  if (field.pattern == "^[^/]+$") return other ? "b" : "a";
  if (field.pattern.starts_with("^[0-9]")) return other ? "7.5" : "5";
  return other ? "/b" : "/a";
}

/// Returns an object with every field set. The field at the path `changed` has its second value.
json build(const schema::Field& field, const std::string& path, const std::string& changed,
           std::set<std::string>* leaves) {
  if (field.type == "array") {
    return json::array({build(field.children.at(0), path + "[]", changed, leaves)});
  }
  if (!field.map_of.empty() || field.children.empty()) {
    if (leaves != nullptr) leaves->insert(path);
    const json value = sample(field, path == changed);
    return field.map_of.empty() ? value : json{{"key", value}};
  }
  json object = json::object();
  for (const schema::Field& child : field.children) {
    object[child.name] = build(child, path.empty() ? child.name : path + "." + child.name, changed, leaves);
  }
  return object;
}

/// Formats everything that a view holds. Different views give different texts.
std::string text_of(const InferenceScaler& scaler) {
  json out = {scaler.model,
              scaler.engine,
              scaler.slo.ttft.count(),
              scaler.slo.tpot.count(),
              scaler.slo.e2e.count(),
              scaler.slo.attainment_ppm,
              scaler.interval.count(),
              scaler.port.value_or(0),
              scaler.path,
              scaler.waiting_per_replica,
              scaler.running_per_replica.value_or(0),
              scaler.cool_down.count(),
              scaler.prometheus_url,
              scaler.prometheus_selector,
              name_of(scaler.policy),
              name_of(scaler.mode)};
  for (const std::string& metric : scaler.custom) out.push_back(metric);
  const decide::scale::Rules& rules = scaler.rules;
  out.push_back({static_cast<int>(rules.scale_on), rules.waiting_above, rules.waiting_below, rules.kv_above_ppm,
                 rules.kv_below_ppm, rules.latency_below_percent, rules.goodput_below_ppm});
  out.push_back({scaler.role_limits.decode_per_prefill_least_milli, scaler.role_limits.decode_per_prefill_most_milli});
  for (const InferenceScaler::Role& role : scaler.roles) {
    out.push_back(static_cast<int>(role.role));
    for (const InferenceScaler::Variant& variant : role.variants) {
      out.push_back({variant.target.api_version, variant.target.kind, variant.target.name, variant.min_replicas,
                     variant.max_replicas, variant.gpu, variant.engine_profile.model, variant.engine_profile.dtype,
                     variant.replica_price_per_hour.count,
                     variant.survives ? static_cast<int>(*variant.survives) : -1});
      for (const model::BoundsWindow& window : variant.windows) {
        out.push_back({window.start.text(), window.duration.count(), window.min.value_or(0), window.max.value_or(0)});
      }
    }
  }
  return out.dump();
}

std::string text_of(const FleetPolicy& policy) {
  const model::FleetLimits& limits = policy.limits;
  json out = {name_of(policy.replicas),      name_of(policy.placement),
              name_of(policy.nodes),         policy.halt,
              policy.node_labels.get("key"), limits.gpus.value_or(0),
              limits.nodes.value_or(0),      limits.price_per_hour.value_or(MicroUsd{}).count,
              policy.hold.count(),           policy.consolidate_after.count()};
  out.push_back(policy.shadow_of);
  if (policy.slo_breach) out.push_back({policy.slo_breach->bound.count(), policy.slo_breach->min_duration.count()});
  for (const model::Topology& topology : policy.topologies) {
    out.push_back({topology.name, topology.levels.at(0).name, topology.levels.at(0).node_label});
  }
  for (const FleetPolicy::InstanceType& type : policy.instance_types) {
    out.push_back({type.name, type.gpu, type.gpus, type.cpu_milli.value_or(0), type.memory_mib.value_or(0),
                   type.storage_mib.value_or(0), type.pod_slots.value_or(0), type.resources,
                   type.price_per_hour.count});
  }
  return out.dump();
}

std::string text_of(const Queue& queue) { return json{queue.parent, queue.limit.value_or(MilliGpu{}).count}.dump(); }

template <typename View>
std::set<std::string> not_read(const std::string& file, View (*read)(kube::Json)) {
  const Result<manifest::Node> description =
      manifest::parse_file(std::string(CAPSTAN_SOURCE_DIR) + "/schema/crds/" + file);
  EXPECT_TRUE(description.has_value());
  const Result<schema::Kind> kind = schema::read_kind(*description);
  EXPECT_TRUE(kind.has_value());
  std::set<std::string> unread;
  for (const schema::Field& part : kind->root.children) {
    if (part.name != "spec") continue;
    const auto view = [&](const std::string& changed, std::set<std::string>* leaves) {
      kube::JsonDocument document;
      const std::string text = json{{"spec", build(part, "", changed, leaves)}}.dump();
      return text_of(read(document.parse(text).value()));
    };
    std::set<std::string> leaves;
    const std::string before = view("", &leaves);
    EXPECT_GT(leaves.size(), 1u);
    for (const std::string& leaf : leaves) {
      if (view(leaf, nullptr) == before) unread.insert(leaf);
    }
  }
  return unread;
}

TEST(ScalerFields, OfAnInferenceScaler) {
  EXPECT_EQ(not_read("inferencescaler.yaml", read_inference_scaler), std::set<std::string>());
}

TEST(ScalerFields, OfAQueue) { EXPECT_EQ(not_read("queue.yaml", read_queue), std::set<std::string>()); }

TEST(ScalerFields, OfAFleetPolicy) {
  EXPECT_EQ(not_read("fleetpolicy.yaml", read_fleet_policy), std::set<std::string>());
}

}  // namespace
}  // namespace capstan::op
