#pragma once

#include <array>
#include <string_view>

#include "base/enum_names.h"
#include "decide/scale/scale.h"
#include "model/offering.h"

// The names of settings that have a closed set of values: `key` in scenarios and snapshot files, `label` in Kubernetes
// objects. Each table is in the order of its enum.
namespace capstan::settings {

struct SettingName {
  std::string_view key;
  std::string_view label;
};

using ScaleOn = decide::scale::Rules::ScaleOn;
inline constexpr std::array<SettingName, 5> kScaleOnNames{
    {{"all", "All"}, {"queue", "Queue"}, {"kv", "KV"}, {"latency", "Latency"}, {"goodput", "Goodput"}}};
inline constexpr auto kScaleOnKeys = enum_column(kScaleOnNames, &SettingName::key);
inline constexpr auto kScaleOnLabels = enum_column(kScaleOnNames, &SettingName::label);

inline constexpr std::array<std::string_view, 3> kSelectKeys{"max", "min", "disabled"};         // HpaRules::Select
inline constexpr std::array<std::string_view, 2> kRateKeys{"pods", "percent"};                  // HpaRatePolicy::Kind
inline constexpr std::array<std::string_view, 2> kScaleToZeroKeys{"within_slo", "after_idle"};  // Capstan::ScaleToZero
inline constexpr std::array<std::string_view, 2> kConsolidationKeys{"when_empty", "when_empty_or_underutilized"};

/// Labels of the policies of an InferenceScaler.
inline constexpr std::array<std::string_view, 3> kScalerPolicyLabels{"Capstan", "Rules", "Queue"};

/// Engines whose metrics count no tokens, so that the default policy for them is Queue. A custom engine is included,
/// because its metrics are unknown.
inline constexpr std::string_view kEnginesWithoutTokenCounts[] = {"tensorrt-llm", "triton", "tgi", "custom"};

/// A metric of the engine "custom". Its name in Prometheus is the value of `field` in `spec.signals.custom`.
struct CustomMetric {
  std::string_view field;
  std::string_view signal;
  std::string_view unit;
  std::string_view kind = "gauge";
};

inline constexpr CustomMetric kCustomMetrics[] = {
    {"waiting", "waiting", "requests"},
    {"running", "running", "requests"},
    {"kvUsage", "kv_usage_ppm", "ratio"},
    {"promptTokens", "prompt_tokens_total", "tokens", "counter"},
    {"generatedTokens", "generated_tokens_total", "tokens", "counter"},
    {"ttft", "ttft_p99_us", "seconds", "histogram"},
};

}  // namespace capstan::settings
