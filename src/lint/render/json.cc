#include <nlohmann/json.hpp>

#include "lint/render/places.h"
#include "lint/render/render.h"

namespace capstan::lint {
namespace {

using Json = nlohmann::ordered_json;

/// Returns "safe" or "unsafe"; null if only a person can repair the finding.
Json safety_json(FixSafety safety) { return safety == FixSafety::none ? Json(nullptr) : Json(name_of(safety)); }

Json fix_json(const Finding& finding) {
  if (finding.fix.text.empty() && finding.fix.edits.empty()) return nullptr;
  Json edits = Json::array();
  for (const Edit& edit : finding.fix.edits) {
    const auto begin = finding.file->lines().at(edit.span.begin);
    const auto end = finding.file->lines().at(edit.span.end);
    edits.push_back({{"line", begin.line},
                     {"column", begin.column},
                     {"end_line", end.line},
                     {"end_column", end.column},
                     {"text", edit.text}});
  }
  return {{"description", finding.fix_text()},
          {"safety", safety_json(finding.safety())},
          {"caution", finding.fix.caution.empty() ? Json(nullptr) : Json(finding.fix.caution)},
          {"edits", std::move(edits)}};
}

Json finding_json(const Finding& finding) {
  const Places places = places_of(finding);
  return {{"rule", finding.rule->id},
          {"severity", name_of(finding.severity)},
          {"file", finding.file->path},
          {"line", places.begin.line},
          {"column", places.begin.column},
          {"end_line", places.end.line},
          {"end_column", places.end.column},
          {"message", finding.message},
          {"object", finding.object == nullptr ? Json(nullptr) : Json(finding.object->title())},
          {"fix", fix_json(finding)}};
}

/// Serializes JSON. A path or a quoted value may hold bytes that are not UTF-8, which are replaced.
std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::string_view level(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

Json sarif_rule(const Rule& rule) {
  return {{"id", rule.id},
          {"shortDescription", {{"text", rule.title}}},
          {"fullDescription", {{"text", rule.why}}},
          {"help", {{"text", rule.fix}}},
          {"properties", {{"fixSafety", safety_json(rule.fix_safety)}}},
          {"defaultConfiguration", {{"level", level(rule.severity)}}}};
}

Json sarif_region(const manifest::LineTable& lines, Span span) {
  const auto begin = lines.at(span.begin);
  const auto end = lines.at(span.end);
  return {{"startLine", begin.line}, {"startColumn", begin.column}, {"endLine", end.line}, {"endColumn", end.column}};
}

Json sarif_result(const Finding& finding, std::size_t rule_index) {
  const Json artifact = {{"uri", finding.file->path}};
  Json result = {{"ruleId", finding.rule->id},
                 {"ruleIndex", rule_index},
                 {"level", level(finding.severity)},
                 {"message", {{"text", finding.message}}},
                 {"locations", Json::array({{{"physicalLocation",
                                              {{"artifactLocation", artifact},
                                               {"region", sarif_region(finding.file->lines(), finding.span)}}}}})}};
  if (finding.fix.edits.empty()) return result;
  Json replacements = Json::array();
  for (const Edit& edit : finding.fix.edits) {
    replacements.push_back({{"deletedRegion", sarif_region(finding.file->lines(), edit.span)},
                            {"insertedContent", {{"text", edit.text}}}});
  }
  const Json change = {{"artifactLocation", artifact}, {"replacements", std::move(replacements)}};
  Json properties = {{"safety", name_of(finding.safety())}};
  if (!finding.fix.caution.empty()) properties["caution"] = finding.fix.caution;
  result["fixes"] = Json::array({{{"description", {{"text", finding.fix_text()}}},
                                  {"artifactChanges", Json::array({change})},
                                  {"properties", std::move(properties)}}});
  return result;
}

}  // namespace

std::string to_json(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push_back(finding_json(finding));
  const Summary& sum = report.summary;
  return dump({{"format_version", 1},
               {"findings", std::move(findings)},
               {"summary",
                {{"files", sum.files},
                 {"documents", sum.documents},
                 {"objects", sum.objects},
                 {"templates", sum.templates},
                 {"patches", sum.patches},
                 {"kinds_not_read", sum.kinds_not_read},
                 {"suppressed", sum.suppressed},
                 {"known", sum.in_baseline},
                 {"hidden_advice", sum.hidden_advice},
                 {"safe_fixes", count_fixes(report, FixSafety::safe)},
                 {"unsafe_fixes", count_fixes(report, FixSafety::unsafe)}}}},
              2) +
         "\n";
}

std::string to_sarif(const Report& report, const std::string& version) {
  std::vector<const Rule*> rules;
  Json rule_descriptions = Json::array(), results = Json::array();
  for (const Finding& finding : report.findings) {
    auto found = std::ranges::find(rules, finding.rule);
    if (found == rules.end()) {
      rule_descriptions.push_back(sarif_rule(*finding.rule));
      rules.push_back(finding.rule);
      found = rules.end() - 1;
    }
    results.push_back(sarif_result(finding, static_cast<std::size_t>(found - rules.begin())));
  }
  const Json driver = {{"name", "capstan lint"}, {"version", version}, {"rules", std::move(rule_descriptions)}};
  const Json run = {
      {"tool", {{"driver", driver}}}, {"columnKind", "unicodeCodePoints"}, {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({run})}},
              2) +
         "\n";
}

}  // namespace capstan::lint
