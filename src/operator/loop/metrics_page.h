#pragma once

#include <string>

#include "operator/loop/process.h"

namespace capstan::op {

/// The process in Prometheus' text format; the names are in docs/reference/metrics.md.
std::string metrics_page(const Process& process);

}  // namespace capstan::op
