// Reads any bytes as manifests, runs every lint rule, renders the report in every format and applies the fixes.
#include <string>

#include "base/assert.h"
#include "lint/fix.h"
#include "lint/render/render.h"
#include "lint/run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::lint;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Options options;
  options.advice = true;
  options.settings.is_complete_cluster = true;
  options.threads = 1;
  for (const char* path : {"a.yaml", "a.md", "a.json"}) {
    const Report report = lint_texts({{path, text, true}}, options);
    for (const Finding& finding : report.findings) {
      CAPSTAN_ASSERT(finding.span.begin <= finding.span.end && finding.span.end <= size);
      CAPSTAN_ASSERT(!finding.message.empty());
    }
    CAPSTAN_ASSERT(!to_text(report, true).empty() && !to_json(report).empty() && !to_sarif(report, "1").empty());
    CAPSTAN_ASSERT(!to_junit(report).empty() && to_github(report).size() < 1'000'000'000);
    for (const FixedFile& fixed : apply_fixes(report, FixSafety::unsafe)) {
      CAPSTAN_ASSERT(!fixed.fixed.empty() || fixed.text == text);
    }
  }
  return 0;
}
