#pragma once

#include <cstdint>
#include <string>

#include "emulator/metrics.h"
#include "sim/serving/request.h"

namespace capstan::emulator {

/// The data of one page of metrics.
struct MetricsPage {
  Dialect dialect = Dialect::vllm;
  const std::string& model_name;
  const RequestMetrics& requests;
  const sim::ReplicaSample& engine;
  std::int64_t started_unix_s = 0;  ///< start of the emulated process, seconds since 1970
};

/// Returns the page in Prometheus' text format, with the names, labels, units and order of labels of the engine.
/// Source for vLLM: vllm/v1/metrics/loggers.py, and the kv_cache metrics as of 2026. Source for SGLang:
/// metrics_collector.py with --enable-metrics.
std::string exposition(const MetricsPage& page);

}  // namespace capstan::emulator
