#pragma once

#include <cstdint>
#include <string>

#include "emulator/metrics.h"
#include "sim/serving/request.h"

namespace capstan::emulator {

/// What one page of metrics is made of.
struct MetricsPage {
  Dialect dialect = Dialect::vllm;
  const std::string& model_name;
  const RequestMetrics& requests;
  const sim::ReplicaSample& engine;
  std::int64_t started_unix_s = 0;  ///< when the process that is emulated began
};

/// The page in Prometheus' text format, with the engine's own names, labels, units and order of labels.
/// vLLM: vllm/v1/metrics/loggers.py and kv_cache metrics as of 2026; SGLang: metrics_collector.py with
/// --enable-metrics.
std::string exposition(const MetricsPage& page);

}  // namespace capstan::emulator
