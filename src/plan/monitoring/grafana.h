#pragma once

#include <string>
#include <vector>

namespace capstan::plan {

struct Panel {
  std::string title{};
  std::string unit{};   ///< unit, as Grafana names it
  std::string query{};  ///< query in PromQL
  bool is_headline = false;
};

/// Returns a Grafana dashboard as JSON, two panels a row, the headline panels first. The user chooses the Prometheus
/// data source in a list at the top of the dashboard.
/// @param uid  unique in the Grafana server, at most 40 characters
std::string grafana_dashboard(const std::string& title, const std::string& uid, const std::vector<Panel>& panels);

}  // namespace capstan::plan
