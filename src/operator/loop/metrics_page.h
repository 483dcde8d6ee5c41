#pragma once

#include <string>

#include "operator/loop/process.h"

namespace capstan::op {

/// Returns the metrics of the process in the text format of Prometheus; docs/reference/metrics.md lists them.
std::string metrics_page(const Process& process);

}  // namespace capstan::op
