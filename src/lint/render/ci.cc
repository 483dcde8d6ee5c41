#include <fmt/format.h>

#include <map>
#include <vector>

#include "lint/render/places.h"
#include "lint/render/render.h"

namespace capstan::lint {
namespace {

/// Escapes characters that would end a workflow command (a line break) or one of its properties (a comma).
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ',' || c == ':'))) {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out;
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

std::string to_github(const Report& report) {
  std::string out;
  for (const Finding& finding : report.findings) {
    const Places places = places_of(finding);
    const char* word = finding.severity == Severity::error     ? "error"
                       : finding.severity == Severity::warning ? "warning"
                                                               : "notice";
    out += fmt::format("::{} file={},line={},endLine={},col={},endColumn={},title={}::{}\n", word,
                       escaped(finding.file->path, true), places.begin.line, places.end.line, places.begin.column,
                       places.end.column, escaped(finding.rule->id, true), escaped(finding.message, false));
  }
  return out;
}

std::string to_junit(const Report& report) {
  std::map<std::string_view, std::vector<const Finding*>> by_file;
  for (const Finding& finding : report.findings) by_file[finding.file->path].push_back(&finding);
  std::string cases;
  for (const auto& [path, findings] : by_file) {
    for (const Finding* finding : findings) {
      const Places places = places_of(*finding);
      cases += fmt::format(
          "    <testcase classname=\"{}\" name=\"{} at {}:{}\">\n"
          "      <failure type=\"{}\" message=\"{}\">{}:{}:{}</failure>\n    </testcase>\n",
          xml(path), finding->rule->id, places.begin.line, places.begin.column, name_of(finding->severity),
          xml(finding->message), xml(path), places.begin.line, places.begin.column);
    }
  }
  if (report.findings.empty()) cases = "    <testcase classname=\"capstan lint\" name=\"nothing found\"/>\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"capstan lint\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      std::max<std::size_t>(report.findings.size(), 1), report.findings.size(), cases);
}

}  // namespace capstan::lint
