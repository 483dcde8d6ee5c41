#include "peers/read_settings.h"

#include <algorithm>

#include "manifest/scalars.h"
#include "peers/aibrix.h"
#include "peers/dynamo.h"
#include "peers/knative.h"
#include "peers/ray_serve.h"
#include "peers/wva.h"

namespace capstan::peers {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::int64_t kMaxActivationScale = 100'000;
constexpr std::string_view kNames[] = {"aibrix_apa", "aibrix_kpa", "dynamo_planner", "knative_kpa",
                                       "ray_serve",  "wva_v1",     "wva_v2"};

template <typename Peer, typename Spec>
Choice choice(Spec spec, std::optional<Duration> scrape_interval) {
  Choice out;
  out.period = Peer(spec).period();
  out.make = [spec = std::move(spec)]() -> std::unique_ptr<Autoscaler> { return std::make_unique<Peer>(spec); };
  out.scrape_interval = scrape_interval;
  return out;
}

/// Reads a setting that is a number of seconds.
void read_seconds(Fields& fields, std::string_view key, Duration& out) {
  double seconds = static_cast<double>(out / 1ms) / 1e3;
  fields.number(key, seconds, 0, 86'400);
  out = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1e3 + 0.5));
}

Choice read_knative(Fields& fields) {
  KnativeSpec spec;
  kpa::TargetSettings target;
  double percentage = 70, threshold = 200;
  fields.number("container-concurrency", target.container_concurrency, 0, 1e6);
  fields.number("container-concurrency-target-default", target.default_target, 0.01, 1e6);
  if (fields.take("target") != nullptr) fields.number("target", target.target_annotation.emplace(0), 0.01, 1e6);
  fields.number("target-utilization-percentage", percentage, 1, 100);
  target.utilization = percentage / 100;
  const kpa::Target resolved = kpa::resolve_target(target);
  spec.decider.target = resolved.target;
  spec.decider.total = resolved.total;
  fields.number("target-burst-capacity", spec.decider.target_burst_capacity, -1, 1e6);
  fields.number("max-scale-up-rate", spec.decider.max_scale_up_rate, 1.01, 1e6);
  fields.number("max-scale-down-rate", spec.decider.max_scale_down_rate, 1.01, 1e6);
  fields.number("panic-threshold-percentage", threshold, 110, 1000);
  spec.decider.panic_threshold = threshold / 100;
  fields.integer("panic-window-percentage", spec.panic_window_percentage, 1, 100);
  fields.duration("stable-window", spec.decider.stable_window, 6s, 1h);
  fields.duration("scale-down-delay", spec.decider.scale_down_delay, 0s, 1h);
  fields.integer("activation-scale", spec.decider.activation_scale, 0, kMaxActivationScale);
  fields.boolean("enable-scale-to-zero", spec.zero.scale_to_zero);
  fields.duration("scale-to-zero-grace-period", spec.zero.grace, 6s, 1h);
  fields.duration("scale-to-zero-pod-retention-period", spec.zero.retention, 0s, 1h);
  fields.integer("min-scale", spec.zero.min_scale, 0, manifest::kMaxReplicas);
  fields.integer("max-scale", spec.zero.max_scale, 0, manifest::kMaxReplicas);
  spec.zero.stable_window = spec.decider.stable_window;
  spec.zero.target_burst_capacity = spec.decider.target_burst_capacity;
  return choice<KnativeAutoscaler>(spec, 1s);
}

Choice read_ray_serve(Fields& fields) {
  RayServeSpec spec;
  fields.number("target_ongoing_requests", spec.config.target_ongoing_requests, 1e-3, 1e6);
  fields.integer("min_replicas", spec.min_replicas, 0, manifest::kMaxReplicas);
  fields.integer("max_replicas", spec.max_replicas, 1, manifest::kMaxReplicas);
  fields.number("upscaling_factor", spec.config.upscaling_factor, 1e-3, 1e3);
  fields.number("downscaling_factor", spec.config.downscaling_factor, 1e-3, 1e3);
  read_seconds(fields, "metrics_interval_s", spec.metrics_interval);
  read_seconds(fields, "look_back_period_s", spec.look_back_period);
  read_seconds(fields, "upscale_delay_s", spec.config.upscale_delay);
  read_seconds(fields, "downscale_delay_s", spec.config.downscale_delay);
  if (fields.take("downscale_to_zero_delay_s") != nullptr) {
    read_seconds(fields, "downscale_to_zero_delay_s", spec.config.downscale_to_zero_delay.emplace());
  }
  return choice<RayServeAutoscaler>(spec, std::max<Duration>(1s, spec.metrics_interval));
}

Choice read_aibrix(Fields& fields, AibrixSpec::Strategy strategy, ErrorList& errors) {
  AibrixSpec spec;
  spec.strategy = strategy;
  const Node* metric = fields.take("targetMetric");
  fields.text("targetMetric", spec.target_metric);
  fields.number("targetValue", spec.target_value, 1e-6, 1e9);
  fields.integer("minReplicas", spec.min_replicas, 0, manifest::kMaxReplicas);
  fields.integer("maxReplicas", spec.max_replicas, 1, manifest::kMaxReplicas);
  read_seconds(fields, "observeWindowSeconds", spec.observe_window);
  read_seconds(fields, "panicWindowSeconds", spec.panic_window);
  fields.number("panic-threshold", spec.panic_threshold, 1, 1000);
  fields.number("max-scale-up-rate", spec.rates.max_up, 1, 1e6);
  fields.number("max-scale-down-rate", spec.rates.max_down, 1, 1e6);
  fields.number("scale-up-tolerance", spec.rates.up_tolerance, 0, 10);
  fields.number("scale-down-tolerance", spec.rates.down_tolerance, 0, 1);
  fields.duration("scale-up-cooldown-window", spec.up_cooldown, 0s, 1h);
  fields.duration("scale-down-cooldown-window", spec.down_cooldown, 0s, 1h);
  if (!fields.ok()) return {};
  std::optional<std::string> series = series_of_metric(spec.target_metric, "");
  if (!series) series = series_of_metric("vllm:" + spec.target_metric, "");
  if (!series) {
    errors.fail(metric == nullptr ? fields.node().place : metric->place,
                "scale.targetMetric: found a metric that no engine exports, \"" + spec.target_metric + "\"");
    return {};
  }
  if (Result<MetricQuery> query = MetricQuery::parse("avg(" + *series + ")", "query")) spec.query = std::move(*query);
  return choice<AibrixAutoscaler>(spec, 10s);
}

Choice read_wva(Fields& fields, WvaSpec::Analyzer analyzer) {
  WvaSpec spec;
  spec.analyzer = analyzer;
  fields.number("kvCacheThreshold", spec.config.kv_threshold, 0, 1);
  fields.number("queueLengthThreshold", spec.config.queue_threshold, 0, 1e6);
  if (analyzer == WvaSpec::Analyzer::v1) {
    fields.number("kvSpareTrigger", spec.config.kv_spare_trigger, 0, 1);
    fields.number("queueSpareTrigger", spec.config.queue_spare_trigger, 0, 1e6);
  } else {
    fields.number("scaleUpThreshold", spec.config.scale_up_threshold, 1e-3, 1);
    fields.number("scaleDownBoundary", spec.config.scale_down_boundary, 1e-3, 1);
  }
  read_seconds(fields, "stabilizationWindowSeconds", spec.stabilization_window);
  fields.integer("minReplicas", spec.min_replicas, 1, manifest::kMaxReplicas);
  fields.integer("maxReplicas", spec.max_replicas, 1, manifest::kMaxReplicas);
  return choice<WvaAutoscaler>(spec, std::nullopt);
}

Choice read_dynamo(Fields& fields, ErrorList& errors) {
  DynamoSpec spec;
  using Target = dynamo::Target;
  fields.choice<Target>("optimization_target", spec.load.target,
                        {{"throughput", Target::throughput}, {"latency", Target::latency}});
  fields.integer("min_endpoint", spec.load.min_endpoint, 1, manifest::kMaxReplicas);
  fields.integer("max_gpu_budget", spec.max_gpu_budget, 1, 1'000'000);
  fields.integer("gpus_per_engine", spec.gpus_per_engine, 1, 1'000);
  std::int64_t seconds = spec.load_adjustment_interval / 1s;
  fields.integer("load_adjustment_interval", seconds, 1, 3600);
  spec.load_adjustment_interval = std::chrono::seconds(seconds);
  fields.boolean("enable_throughput_scaling", spec.throughput_scaling);
  if (const Node* predictor = fields.take("load_predictor")) {
    using Predictor = DynamoSpec::Predictor;
    if (predictor->text == "arima" || predictor->text == "prophet") {
      errors.fail(predictor->place,
                  "scale.load_predictor: " + predictor->text +
                      " needs a library (pmdarima or prophet) that a simulation does not have, expected constant or "
                      "kalman");
    }
    fields.choice<Predictor>("load_predictor", spec.predictor,
                             {{"constant", Predictor::constant}, {"kalman", Predictor::kalman}});
  }
  if (spec.throughput_scaling) {
    seconds = spec.throughput_adjustment_interval / 1s;
    fields.integer("throughput_adjustment_interval", seconds, 1, 86'400);
    spec.throughput_adjustment_interval = std::chrono::seconds(seconds);
    if (fields.take_required("engine_rps") != nullptr) fields.number("engine_rps", spec.engine_rps, 1e-6, 1e9);
    fields.number("kalman_q_level", spec.kalman.q_level, 0, 1e9);
    fields.number("kalman_q_trend", spec.kalman.q_trend, 0, 1e9);
    fields.number("kalman_r", spec.kalman.r, 0, 1e9);
  }
  return choice<DynamoPlanner>(spec, spec.load_adjustment_interval);
}

}  // namespace

std::span<const std::string_view> names() { return kNames; }

Choice read_settings(const Node& node, ErrorList& errors) {
  Fields fields(node, "scale", errors);
  std::string name;
  fields.text("policy", name);
  fields.keys_depend_on("policy");
  Choice out;
  if (name == "knative_kpa") out = read_knative(fields);
  if (name == "ray_serve") out = read_ray_serve(fields);
  if (name == "aibrix_apa") out = read_aibrix(fields, AibrixSpec::Strategy::apa, errors);
  if (name == "aibrix_kpa") out = read_aibrix(fields, AibrixSpec::Strategy::kpa, errors);
  if (name == "wva_v1") out = read_wva(fields, WvaSpec::Analyzer::v1);
  if (name == "wva_v2") out = read_wva(fields, WvaSpec::Analyzer::v2);
  if (name == "dynamo_planner") out = read_dynamo(fields, errors);
  fields.finish();
  return out;
}

}  // namespace capstan::peers
