// docs/reference/signals.md says what the tables say: signals.inc, missing.inc and schema/metrics.csv. The test holds
// it to them; with CAPSTAN_UPDATE_DOCS=1 it writes the page anew.
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
  std::string text = "| signal | counted in | what it is |\n|---|---|---|\n";
  constexpr std::string_view kMeasures[] = {"requests", "tokens", "millionths", "percent", "microseconds"};
  for (const SignalInfo& each : kSignals) {
    text += "| " + code(each.name) + " | " + std::string(kMeasures[static_cast<std::size_t>(each.measure)]) + " | " +
            std::string(each.words) + " |\n";
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
  std::string text = "| signal | metric | kind | unit | series of one subject | subject | versions |\n";
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
      "<!-- Made of schema/metrics.csv, src/signals/signals.inc and src/signals/missing.inc: change those, then run\n"
      "     CAPSTAN_UPDATE_DOCS=1 build/dev/src/signals_test --gtest_filter='ReferencePage.*' -->\n\n"
      "What Capstan reads of an engine, and under which names engines tell it. How it is used: [the guide]"
      "(../guides/signals.md).\n\n" +
      signals_table() +
      "\n## Metrics of the engines\n\n"
      "Of several rows for one signal the first whose metric is on the page counts: the newest name stands first. A "
      "`:` in\n"
      "a name may have become a `_`, and a prefix `kserve_` is looked through. *Subject*: the labels that say whose "
      "series\n"
      "it is.\n";
  for (std::uint16_t engine = 0; engine < catalog.engines().size(); ++engine) {
    text += "\n### " + catalog.engines()[engine] + "\n\n" + engine_table(catalog, engine);
  }
  text += "\n## Why a signal is missing\n\n| code | meaning |\n|---|---|\n";
  for (const MissingInfo& each : kMissing) {
    text += "| " + code(each.code) + " | " + std::string(each.sentence) + " |\n";
  }
  return text;
}

TEST(ReferencePage, SaysWhatTheTablesSay) {
  const std::string path = std::string(CAPSTAN_SOURCE_DIR) + "/docs/reference/signals.md";
  if (std::getenv("CAPSTAN_UPDATE_DOCS") != nullptr) std::ofstream(path) << page();
  std::ifstream file(path);
  std::stringstream written;
  written << file.rdbuf();
  EXPECT_EQ(written.str(), page()) << "write it anew with CAPSTAN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace capstan::signals
