#include "plan/monitoring/controller_monitoring.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "promql/parser.h"

namespace capstan::plan {
namespace {

const std::string kSourceFolder = CAPSTAN_SOURCE_DIR;

std::string bytes_of(const std::string& path) {
  std::ifstream file(kSourceFolder + "/" + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

MonitoringTemplates templates_of_controller() {
  auto parsed = MonitoringTemplates::parse(bytes_of("schema/controller-monitoring.yaml"), "controller-monitoring.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed.value_or(MonitoringTemplates());
}

std::vector<std::string> queries_of(const MonitoringTemplates& templates) {
  std::vector<std::string> queries;
  for (const PanelTemplate& panel : templates.panels) queries.push_back(panel.query);
  for (const AlertTemplate& alert : templates.alerts) queries.push_back(alert.query);
  return queries;
}

std::set<std::string> metrics_in(const std::string& text) {
  const std::regex name("capstan_[a-z_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), name), {}};
}

TEST(ControllerMonitoring, TheCommittedFilesAreGenerated) {
  const MonitoringTemplates templates = templates_of_controller();
  EXPECT_EQ(bytes_of("deploy/monitoring/grafana-dashboard.json"), controller_dashboard(templates))
      << "run scripts/generate";
  EXPECT_EQ(bytes_of("deploy/monitoring/prometheus-rules.yaml"), controller_rules(templates)) << "run scripts/generate";
}

TEST(ControllerMonitoring, EveryQueryIsPromQlOverMetricsThatExist) {
  const std::string page = bytes_of("docs/reference/metrics.md");
  for (const std::string& query : queries_of(templates_of_controller())) {
    EXPECT_TRUE(promql::parse(query)) << query;
    for (const std::string& metric : metrics_in(query)) {
      EXPECT_NE(page.find("`" + metric + "`"), page.npos) << metric << " in " << query;
    }
  }
}

TEST(ControllerMonitoring, EveryMetricOfTheControllerIsShown) {
  std::set<std::string> shown;
  for (const std::string& query : queries_of(templates_of_controller())) shown.merge(metrics_in(query));
  // No panel shows capstan_synced, because the readiness of the pod shows the same: while the metric is 0, /readyz
  // answers 503.
  shown.insert("capstan_synced");
  for (const std::string& metric : metrics_in(bytes_of("docs/reference/metrics.md"))) {
    EXPECT_TRUE(shown.contains(metric)) << metric << " is in no panel and no alert";
  }
}

}  // namespace
}  // namespace capstan::plan
