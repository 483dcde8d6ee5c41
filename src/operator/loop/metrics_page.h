#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/loop/process.h"

namespace capstan::op {

/// The recording that `capstan run --record` writes.
struct RecordingFigures {
  bool is_recording = false;  ///< false: the last write failed
  std::int64_t lost = 0;      ///< states that could not be written
};

/// Returns the metrics of the process in the text format of Prometheus; docs/reference/metrics.md lists them.
std::string metrics_page(const Process& process, const std::optional<RecordingFigures>& recording = {});

}  // namespace capstan::op
