#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/spec/spec.h"

// The metrics of an engine that show its load.
namespace capstan::plan {

/// One metric, and labels that its series must have.
struct MeasurableMetric {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> where{};
};

/// The metrics by which a load is measured. A list has the newest name first, and is empty if the engine has none.
struct MeasurableMetrics {
  std::vector<MeasurableMetric> finished{};        ///< counter of finished requests; never empty
  std::vector<MeasurableMetric> running{};         ///< gauge of running requests
  std::vector<MeasurableMetric> waiting{};         ///< gauge of waiting requests
  std::vector<MeasurableMetric> prompt_lengths{};  ///< histogram of tokens, without "_bucket"
  std::vector<MeasurableMetric> answer_lengths{};
  std::vector<MeasurableMetric> prompt_tokens{};  ///< counter of prompt tokens
  std::vector<MeasurableMetric> answer_tokens{};
  std::string model_label{};  ///< label with the name of the model
};

/// Returns the metrics of an engine: those of schema/metrics.csv, and histograms of lengths or counters of tokens
/// that the file lacks.
MeasurableMetrics measurable_metrics(Engine engine);

/// Returns a regular expression for the spellings of a metric: gateways and adapters write '_' for ':' and put
/// "kserve_" before it.
std::string spelling_pattern(const std::string& metric);
/// Returns true if a metric of the server is this metric in one of its spellings.
bool is_spelling_of(std::string_view found, std::string_view metric);

}  // namespace capstan::plan
