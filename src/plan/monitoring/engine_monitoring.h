#pragma once

#include <string>

#include "plan/spec/spec.h"

// The files of deploy/monitoring for the metrics of an inference engine. scripts/generate writes them from
// schema/monitoring.yaml. A plan writes the same for the service `chat` in the namespace `inference`, with an SLO of
// 99 % of requests within a TTFT of 2 s and a TPOT of 80 ms.
namespace capstan::plan {

/// Returns the panels as a Grafana dashboard.
std::string engine_dashboard(Engine engine);

/// Returns the alerts as a rule file of Prometheus.
std::string engine_rules(Engine engine);

}  // namespace capstan::plan
