#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "explain/signal_path.h"
#include "kube/client.h"
#include "kube/common_views.h"

namespace capstan::op {

/// A metric that an HPA reads: a value of the pods of its target (custom metrics API), or a value that belongs to no
/// object of the cluster (external metrics API). Metrics of other types, such as Object and Resource, are left out.
struct HpaMetric {
  std::string name;
  bool external = false;
  kube::StringMap labels{};  ///< labels that the series must have

  std::string_view group() const { return external ? "external.metrics.k8s.io" : "custom.metrics.k8s.io"; }
};

/// Reads the metrics of types Pods and External from a HorizontalPodAutoscaler, which is JSON.
std::vector<HpaMetric> hpa_metrics(const std::string& hpa);

/// Returns the version that an API group prefers, such as "custom.metrics.k8s.io/v1beta2"; empty if the answer to
/// "/apis/GROUP" has none.
std::string preferred_version(const std::string& group);

/// Returns the path of the values of a metric, as an HPA asks for them.
/// @param version  "custom.metrics.k8s.io/v1beta2"
/// @param pods     labels of the pods; used by the custom metrics API
std::string values_path(const HpaMetric& metric, const std::string& version, std::string_view ns,
                        const kube::StringMap& pods);

/// The answers to the three requests about a metric. A request is left out if the one before it failed.
struct MetricAnswers {
  kube::Outcome group{};      ///< "/apis/GROUP": whether the API is registered
  kube::Outcome resources{};  ///< "/apis/GROUP/VERSION": the metrics that the adapter has rules for
  kube::Outcome values{};     ///< `values_path`
};
explain::AdapterFacts adapter_facts(const HpaMetric& metric, const MetricAnswers& answers);

}  // namespace capstan::op
