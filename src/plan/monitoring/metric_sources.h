#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "plan/monitoring/templates.h"
#include "plan/result/plan.h"

// The manifests that scrape the metrics of the dashboards and alerts. The engines and the GPUs are scraped by manifests
// of the section on replicas, and the Cluster Autoscaler of AWS by the values of its chart.
namespace capstan::plan {

/// Returns why no manifest of the plan can scrape a source: the cloud runs the component and does not export its
/// metrics. Empty if a manifest can.
std::string_view missing_source(const ClusterSpec& cluster, MetricSource source);

/// Returns the manifests that scrape Karpenter, KAI and Kueue, and the values of the chart with Prometheus and
/// kube-state-metrics.
std::vector<Manifest> metric_source_manifests(const PlanSpec& spec, const std::set<MetricSource>& sources);

/// Returns the command that installs Prometheus, kube-state-metrics and Grafana.
ApplyCommand prometheus_command();

/// A label of a node, and its value on spot nodes.
struct SpotLabel {
  std::string_view key{};
  std::string_view value{};
};
SpotLabel spot_label(const ClusterSpec& cluster);

/// Returns the label of a node in the series kube_node_labels: "label_capstan_dev_pool".
std::string series_label(std::string_view node_label);

}  // namespace capstan::plan
