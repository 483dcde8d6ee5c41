#include "settings/inference_scaler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/cron.h"
#include "manifest/scalars.h"
#include "model/role_names.h"
#include "settings/names.h"

namespace capstan::settings {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr RequestCount kMaxRequests = 1'000'000;  // largest number of requests of one replica

void read_scaler_slo(const Node& node, model::Slo& slo, ErrorList& errors) {
  Fields fields(node, "spec.slo", errors);
  fields.duration("ttft", slo.ttft, 0s, 24h);
  fields.duration("tpot", slo.tpot, 0s, 24h);
  fields.duration("e2e", slo.e2e, 0s, 24h);
  fields.share_ppm("attainment", slo.attainment_ppm, 1, 1'000'000);
  fields.finish();
}

model::BoundsWindow read_scaler_window(const Node& node, ErrorList& errors) {
  model::BoundsWindow window;
  Fields fields(node, "spec.roles.variants.windows", errors);
  if (const Node* start = fields.take_required("start")) {
    Result<Cron> cron = Cron::parse(start->text);
    if (cron) window.start = std::move(*cron);
    if (!cron) errors.fail(start->place, fields.what() + ".start: " + cron.error().message);
  }
  fields.take_required("duration");
  fields.duration("duration", window.duration, 1min, model::BoundsWindow::kLongest);
  if (node.find("minReplicas") != nullptr)
    fields.integer("minReplicas", window.min.emplace(), 1, manifest::kMaxReplicas);
  if (node.find("maxReplicas") != nullptr)
    fields.integer("maxReplicas", window.max.emplace(), 1, manifest::kMaxReplicas);
  fields.finish();
  return window;
}

ReplicaBounds read_scaler_variant(const Node& node, ErrorList& errors) {
  ReplicaBounds bounds;
  Fields fields(node, "spec.roles.variants", errors);
  fields.take_required("targetRef");
  fields.integer("minReplicas", bounds.min, 1, manifest::kMaxReplicas);
  fields.take_required("maxReplicas");
  bounds.max = std::max(bounds.max, bounds.min);
  fields.integer("maxReplicas", bounds.max, 1, manifest::kMaxReplicas);
  using Level = model::TopologyLevel;
  using Survives = std::optional<Level>;
  fields.choice<Survives>("survive", bounds.survives,
                          {{"Node", Level::node}, {"Rack", Level::rack}, {"Zone", Level::zone}});
  for (const Node& window : fields.list("windows")) bounds.windows.push_back(read_scaler_window(window, errors));
  for (const std::string_view key : {"gpu", "engineProfile", "costPerHour"}) fields.take(key);
  fields.finish();
  if (fields.ok() && bounds.min > bounds.max) {
    errors.fail(fields.place_for_error({"minReplicas", "maxReplicas"}),
                fields.what() + ": minReplicas " + std::to_string(bounds.min) + " is above maxReplicas " +
                    std::to_string(bounds.max));
  }
  return bounds;
}

InferenceScalerManifest::Role read_scaler_role(const Node& node, ErrorList& errors) {
  InferenceScalerManifest::Role role;
  Fields fields(node, "spec.roles", errors);
  using model::Role;
  fields.choice<Role>("role", role.role,
                      {named_value(model::kRoleNames, Role::both), named_value(model::kRoleNames, Role::prefill),
                       named_value(model::kRoleNames, Role::decode)});
  fields.take_required("variants");
  for (const Node& variant : fields.non_empty_list("variants")) {
    role.variants.push_back(read_scaler_variant(variant, errors));
  }
  fields.finish();
  return role;
}

decide::scale::Rules read_scaler_rules(const Node& node, ErrorList& errors) {
  decide::scale::Rules rules;
  Fields fields(node, "spec.rules", errors);
  fields.choice<ScaleOn>("scaleOn", rules.scale_on,
                         {named_value(kScaleOnLabels, ScaleOn::all), named_value(kScaleOnLabels, ScaleOn::queue),
                          named_value(kScaleOnLabels, ScaleOn::kv), named_value(kScaleOnLabels, ScaleOn::latency),
                          named_value(kScaleOnLabels, ScaleOn::goodput)});
  fields.integer("waitingAbove", rules.waiting_above, 1, kMaxRequests);
  fields.integer("waitingBelow", rules.waiting_below, 0, kMaxRequests);
  fields.share_ppm("kvAbove", rules.kv_above_ppm, 1, 1'000'000);
  fields.share_ppm("kvBelow", rules.kv_below_ppm, 1, 1'000'000);
  std::int64_t latency_ppm = rules.latency_below_percent * 10'000;
  fields.share_ppm("latencyBelow", latency_ppm, 10'000, 1'000'000);
  rules.latency_below_percent = latency_ppm / 10'000;
  std::int64_t goodput_ppm = 0;
  if (fields.share_ppm("goodputBelow", goodput_ppm, 1, 1'000'000)) rules.goodput_below_ppm = goodput_ppm;
  fields.finish();
  return rules;
}

decide::scale::QueueHpa read_scaler_queue(const Node& node, ErrorList& errors) {
  decide::scale::QueueHpa queue;
  Fields fields(node, "spec.queue", errors);
  fields.integer("waitingPerReplica", queue.waiting_per_replica, 1, kMaxRequests);
  RequestCount running = 0;
  if (fields.integer("runningPerReplica", running, 1, kMaxRequests)) queue.running_per_replica = running;
  fields.finish();
  return queue;
}

void read_scaler_ratio(const Node& node, model::RoleLimits& limits, ErrorList& errors) {
  Fields fields(node, "spec.decodePerPrefill", errors);
  for (const auto& [key, milli] : {std::pair("min", &limits.decode_per_prefill_least_milli),
                                   std::pair("max", &limits.decode_per_prefill_most_milli)}) {
    double ratio = 0;
    if (fields.number(key, ratio, 0.001, model::RoleLimits::kMaxRatioMilli / 1000.0)) {
      *milli = static_cast<std::int64_t>(ratio * 1000 + 0.5);
    }
  }
  fields.finish();
}

/// Reads the policy, its settings and the times that come from `signals` and `behavior`. If no policy is stated, the
/// policy is the one whose settings are present. If there are no settings either, the policy is Queue for engines whose
/// metrics count no tokens, otherwise Capstan. The controller chooses in the same way (operator/view/scaler_view.cc).
decide::scale::Policy read_scaler_policy(Fields& spec, const std::string& engine, ErrorList& errors) {
  enum class Kind : std::uint8_t { by_settings, capstan, rules, queue };
  Kind kind = Kind::by_settings;
  constexpr auto& labels = kScalerPolicyLabels;
  spec.choice<Kind>("policy", kind, {{labels[0], Kind::capstan}, {labels[1], Kind::rules}, {labels[2], Kind::queue}});
  const Node* rules_node = spec.take("rules");
  const Node* queue_node = spec.take("queue");
  Duration interval = 15s, cool_down = 5min;
  spec.check("signals", [&](const Node& node, ErrorList& found) {
    Fields fields(node, "spec.signals", found);
    fields.duration("interval", interval, 100ms, 1h);
    for (const std::string_view key : {"pods", "prometheus", "custom"}) fields.take(key);
    fields.finish();
  });
  spec.check("behavior", [&](const Node& node, ErrorList& found) {
    Fields fields(node, "spec.behavior", found);
    fields.duration("coolDown", cool_down, 0s, 24h);
    fields.finish();
  });
  if (kind == Kind::by_settings) {
    const bool has_counts =
        std::ranges::find(kEnginesWithoutTokenCounts, engine) == std::end(kEnginesWithoutTokenCounts);
    kind = rules_node != nullptr ? Kind::rules : queue_node != nullptr || !has_counts ? Kind::queue : Kind::capstan;
  }
  if (kind == Kind::rules) {
    decide::scale::Rules rules =
        rules_node == nullptr ? decide::scale::Rules{} : read_scaler_rules(*rules_node, errors);
    rules.cool_down = cool_down;
    rules.sync_period = std::clamp<Duration>(interval, 100ms, 15s);
    return rules;
  }
  if (kind == Kind::queue) {
    decide::scale::QueueHpa queue =
        queue_node == nullptr ? decide::scale::QueueHpa{} : read_scaler_queue(*queue_node, errors);
    queue.hpa.sync_period = std::clamp<Duration>(interval / 2, 100ms, 1h);
    queue.hpa.downscale_stabilization = cool_down;
    queue.hpa.blocks_scale_down_if_silent = true;
    return queue;
  }
  return decide::scale::Capstan{};
}

}  // namespace

InferenceScalerManifest read_inference_scaler(const Node& root, ErrorList& errors) {
  InferenceScalerManifest out;
  Fields object(root, "InferenceScaler", errors);
  for (const std::string_view key : {"apiVersion", "kind", "metadata", "status"}) object.take(key);
  const Node* spec_node = object.take_required("spec");
  object.finish();
  if (spec_node == nullptr) return out;
  Fields spec(*spec_node, "spec", errors);
  if (spec.take_required("model") != nullptr) spec.text("model", out.model);
  std::string engine;
  spec.text("engine", engine);
  if (const Node* slo = spec.take_required("slo")) read_scaler_slo(*slo, out.slo, errors);
  spec.take_required("roles");
  for (const Node& role : spec.non_empty_list("roles")) out.roles.push_back(read_scaler_role(role, errors));
  out.policy = read_scaler_policy(spec, engine, errors);
  spec.check("decodePerPrefill", [&](const Node& node, ErrorList& v) { read_scaler_ratio(node, out.role_limits, v); });
  spec.take("mode");  // a simulated policy always acts
  spec.finish();
  return out;
}

}  // namespace capstan::settings
