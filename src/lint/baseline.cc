#include "lint/baseline.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace capstan::lint {
namespace {

using Json = nlohmann::ordered_json;
using Key = std::tuple<std::string, std::string, std::string, std::string>;

Key key_of(const Finding& finding) {
  return {std::string(finding.rule->id), finding.file->path, finding.object == nullptr ? "" : finding.object->title(),
          finding.message};
}

}  // namespace

std::string baseline_of(const Report& report) {
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    const auto [rule, file, object, message] = key_of(finding);
    findings.push_back({{"rule", rule}, {"file", file}, {"object", object}, {"message", message}});
  }
  const Json json = {{"format_version", 1}, {"findings", std::move(findings)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> subtract_baseline(Report& report, const std::string& json, const std::string& path) {
  const auto refuse = [&](std::string why) {
    return std::unexpected(Error{ErrorKind::input, path, 0, 0, std::move(why)});
  };
  const Json root = Json::parse(json, nullptr, false);
  if (!root.is_object() || !root.contains("findings") || !root["findings"].is_array()) {
    return refuse("is not a baseline, expected a file from --write-baseline");
  }
  std::map<Key, std::size_t> known;
  for (const Json& entry : root["findings"]) {
    const auto text = [&](const char* key) {
      return entry.is_object() && entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
    };
    if (text("rule").empty()) return refuse("has a finding without a rule");
    ++known[{text("rule"), text("file"), text("object"), text("message")}];
  }
  report.summary.in_baseline += std::erase_if(report.findings, [&](const Finding& finding) {
    const auto found = known.find(key_of(finding));
    return found != known.end() && found->second > 0 && found->second-- > 0;
  });
  return {};
}

}  // namespace capstan::lint
