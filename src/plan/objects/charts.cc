#include "plan/objects/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"

namespace capstan::plan {

namespace {

struct Chart {
  std::string_view name{};
  std::string_view source{};  ///< address of a repository, or "oci://..." of the chart
  std::string_view version{};
};

constexpr std::string_view kPrometheus = "https://prometheus-community.github.io/helm-charts";
constexpr std::array<Chart, 9> kCharts = {
    {{"kai-scheduler", "oci://ghcr.io/kai-scheduler/kai-scheduler/kai-scheduler", "v0.17.0"},
     {"keda", "https://kedacore.github.io/charts", "2.20.2"},
     {"lws", "oci://registry.k8s.io/lws/charts/lws", "0.10.0"},
     {"kueue", "oci://registry.k8s.io/kueue/charts/kueue", "0.19.0"},
     {"gpu-operator", "https://helm.ngc.nvidia.com/nvidia", "v26.7.0"},
     {"dcgm-exporter", "https://nvidia.github.io/dcgm-exporter/helm-charts", "4.8.2"},
     {"kube-prometheus-stack", kPrometheus, "79.12.0"},
     {"prometheus-adapter", kPrometheus, "4.11.0"},
     {"cluster-autoscaler", "https://kubernetes.github.io/autoscaler", "9.59.1"}}};

}  // namespace

std::string helm_install(std::string_view chart, std::string_view options) {
  const auto row = std::ranges::find(kCharts, chart, &Chart::name);
  CAPSTAN_ASSERT(row != kCharts.end());
  const bool is_oci = row->source.starts_with("oci://");
  const std::string where = is_oci ? std::string(row->source) : fmt::format("{} --repo {}", row->name, row->source);
  return fmt::format("helm upgrade --install {} {} --version {} {}", row->name, where, row->version, options);
}

}  // namespace capstan::plan
