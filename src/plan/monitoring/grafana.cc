#include "plan/monitoring/grafana.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace capstan::plan {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 39;  // Grafana 10; later versions read it
constexpr std::size_t kWidth = 12;  // half of Grafana's 24 columns
constexpr std::size_t kHeight = 8;

Json panel_json(const Panel& panel, std::size_t index) {
  const Json source = {{"type", "prometheus"}, {"uid", "${datasource}"}};
  const Json target = {{"datasource", source}, {"expr", panel.query}, {"refId", "A"}};
  return {{"id", index + 1},
          {"type", "timeseries"},
          {"title", panel.title},
          {"datasource", source},
          {"gridPos", {{"h", kHeight}, {"w", kWidth}, {"x", index % 2 * kWidth}, {"y", index / 2 * kHeight}}},
          {"fieldConfig", {{"defaults", {{"unit", panel.unit}}}, {"overrides", Json::array()}}},
          {"targets", Json::array({target})}};
}

}  // namespace

std::string grafana_dashboard(const std::string& title, const std::string& uid, const std::vector<Panel>& panels) {
  std::vector<Panel> ordered = panels;
  std::ranges::stable_partition(ordered, &Panel::is_headline);
  Json list = Json::array();
  for (std::size_t i = 0; i < ordered.size(); ++i) list.push_back(panel_json(ordered[i], i));
  const Json source = {{"name", "datasource"}, {"type", "datasource"}, {"query", "prometheus"}};
  const Json dashboard = {{"uid", uid},
                          {"title", title},
                          {"tags", {"capstan"}},
                          {"schemaVersion", kSchemaVersion},
                          {"time", {{"from", "now-6h"}, {"to", "now"}}},
                          {"refresh", "30s"},
                          {"templating", {{"list", Json::array({source})}}},
                          {"panels", list}};
  return dashboard.dump(2) + '\n';
}

}  // namespace capstan::plan
