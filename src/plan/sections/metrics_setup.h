#pragma once

#include "plan/result/plan.h"

// Values of the charts that the scalers and the dashboards need.
namespace capstan::plan {

/// Returns true if NVIDIA's GPU Operator runs in the cluster. GKE installs drivers and device plugin itself.
bool has_gpu_operator(const ClusterSpec& cluster);

/// Returns values of the chart of prometheus-adapter with a rule for each metric that the HPAs of the services use.
Yaml prometheus_adapter_values(const PlanSpec& spec);

/// Returns values of the GPU Operator: the DCGM exporter, and no driver if the image of the nodes contains one.
Yaml gpu_operator_values(const ClusterSpec& cluster);
/// Returns values of the chart of the DCGM exporter for GKE, which has no GPU Operator.
Yaml dcgm_exporter_values();

}  // namespace capstan::plan
