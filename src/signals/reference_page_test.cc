// Checks that docs/reference/signals.md agrees with its sources signals.inc, missing.inc and schema/metrics.csv. With
// CAPSTAN_UPDATE_DOCS=1 the test writes the page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "signals/metric_catalog.h"
#include "signals/signal_name.h"

namespace capstan::signals {
namespace {

std::string code(std::string_view text) { return text.empty() ? std::string() : "`" + std::string(text) + "`"; }

std::string signals_table() {
  std::string text = "| signal | unit | meaning |\n|---|---|---|\n";
  constexpr std::string_view kMeasures[] = {"requests", "tokens", "millionths", "percent", "microseconds"};
  for (const SignalInfo& signal : kSignals) {
    text += "| " + code(signal.name) + " | " + std::string(kMeasures[static_cast<std::size_t>(signal.measure)]) +
            " | " + std::string(signal.description) + " |\n";
  }
  return text;
}

std::string metric_cell(const MetricRow& row) {
  std::string text = row.metric;
  for (const auto& [label, value] : row.where) text += "{" + label + "=\"" + value + "\"}";
  return code(text);
}

std::string engine_table(const MetricCatalog& catalog, std::uint16_t engine) {
  constexpr std::string_view kKinds[] = {"gauge", "counter", "histogram", "share: used", "share: rest", "share: whole"};
  std::string text = "| signal | metric | kind | unit | combine series by | subject | versions |\n";
  text += "|---|---|---|---|---|---|---|\n";
  for (const MetricRow& row : catalog.rows()) {
    if (row.engine != engine) continue;
    std::string subject = row.subject;
    for (std::size_t at = 0; (at = subject.find('|', at)) != std::string::npos; at += 4)
      subject.replace(at, 1, ", or ");
    text += "| " + code(info(row.signal).name) + " | " + metric_cell(row) + " | " +
            std::string(kKinds[static_cast<std::size_t>(row.kind)]) + " | " + row.unit + " | " +
            (row.combine == Combine::sum ? "sum" : "largest") + " | " + subject + " | " + row.versions + " |\n";
  }
  return text;
}

std::string page() {
  const MetricCatalog& catalog = MetricCatalog::bundled();
  std::string text =
      "# Signals\n\n"
      "<!-- Generated from schema/metrics.csv, src/signals/signals.inc and src/signals/missing.inc. To change it, "
      "edit\n"
      "     those files and run\n"
      "     CAPSTAN_UPDATE_DOCS=1 build/dev/src/signals_test --gtest_filter='ReferencePage.*' -->\n\n"
      "This page lists the signals that Capstan reads from inference engines and the metrics that give them. The "
      "guide\n"
      "[Signals](../guides/signals.md) explains how to set them up.\n\n" +
      signals_table() +
      "\n## Metrics of the engines\n\n"
      "If an engine has several rows for one signal, Capstan uses the first row whose metric is on the page; the "
      "newest\n"
      "name is listed first. A `:` in a name also matches a `_`, and a prefix `kserve_` is ignored. The column "
      "*subject*\n"
      "names the labels that say which model, pod or pool a series belongs to.\n";
  for (std::uint16_t engine = 0; engine < catalog.engines().size(); ++engine) {
    text += "\n### " + catalog.engines()[engine] + "\n\n" + engine_table(catalog, engine);
  }
  text += "\n## Why a signal is missing\n\n| code | meaning |\n|---|---|\n";
  for (const MissingInfo& missing : kMissing) {
    text += "| " + code(missing.code) + " | " + std::string(missing.sentence) + " |\n";
  }
  return text;
}

TEST(ReferencePage, AgreesWithTheTables) {
  const std::string path = std::string(CAPSTAN_SOURCE_DIR) + "/docs/reference/signals.md";
  if (std::getenv("CAPSTAN_UPDATE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream written;
  written << file.rdbuf();
  EXPECT_EQ(written.str(), page()) << "write the page with CAPSTAN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace capstan::signals
