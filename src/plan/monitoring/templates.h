#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/errors.h"

// The panels and alerts of schema/monitoring.yaml, with variables.
namespace capstan::plan {

enum class Scope : std::uint8_t {
  service,  ///< written once for each service
  cluster,  ///< written once
};

/// A component that a cluster may have.
enum class Component : std::uint8_t {
  none,
  karpenter,
  cluster_autoscaler,
  node_autoscaler,  ///< karpenter or cluster_autoscaler
  kai,
  kueue,
  default_scheduler,  ///< places the GPU pods
};

/// The component that exports the metrics of a query.
enum class MetricSource : std::uint8_t { engine, kube_state_metrics, dcgm, karpenter, cluster_autoscaler, kai, kueue };

struct PanelTemplate {
  std::string id{};  ///< alternative panels share an id; the plan writes the first one that the cluster can have
  std::string title{};
  std::string unit{};  ///< as Grafana names it: "s", "short", "percentunit"
  Component component = Component::none;
  MetricSource source = MetricSource::engine;
  Scope scope = Scope::service;
  std::string query{};       ///< PromQL with variables
  bool is_headline = false;  ///< one of the five metrics to watch first
};

struct AlertTemplate {
  std::string id{};        ///< name of the alert; alternative alerts share it, as panels share their id
  std::string severity{};  ///< "page" or "ticket"
  std::string duration{};  ///< as Prometheus writes it: "5m"
  Component component = Component::none;
  MetricSource source = MetricSource::engine;
  Scope scope = Scope::service;
  std::string summary{};
  std::string query{};
};

struct MonitoringTemplates {
  std::vector<PanelTemplate> panels{};
  std::vector<AlertTemplate> alerts{};

  /// Parses schema/monitoring.yaml or a text of the same form.
  static std::expected<MonitoringTemplates, manifest::Errors> parse(std::string_view text, const std::string& file);
  /// Returns the templates that are built into the program.
  static const MonitoringTemplates& bundled();
};

std::string_view bundled_monitoring_yaml();

}  // namespace capstan::plan
