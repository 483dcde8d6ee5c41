#include "lint/config.h"

#include <charconv>

#include "lint/rules.h"
#include "manifest/fields.h"
#include "manifest/yaml.h"

namespace capstan::lint {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

void read_rules(const Node& node, ErrorList& errors, Options& options) {
  if (node.kind != Node::Kind::mapping) {
    errors.fail(node.place, "rules is " + node.words() + ", expected a mapping from rule to severity");
    return;
  }
  for (const Node::Entry& entry : node.entries) {
    if (find_rule(entry.key) == nullptr) {
      errors.fail(entry.place, no_such_rule(entry.key).message);
      return;
    }
    const Result<Severity> severity = severity_named(entry.value.text);
    if (!severity) {
      errors.fail(entry.value.place, severity.error().message);
      return;
    }
    options.severities[entry.key] = *severity;
  }
}

void read_version(const Node& node, ErrorList& errors, Options& options) {
  const Result<KubeVersion> version = parse_kube_version(node.text);
  if (version) {
    options.settings.kube = *version;
  } else {
    errors.fail(node.place, version.error().message);
  }
}

}  // namespace

Result<Severity> severity_named(std::string_view name) {
  for (const Severity severity : {Severity::off, Severity::info, Severity::warning, Severity::error}) {
    if (name == name_of(severity)) return severity;
  }
  return std::unexpected(Error{ErrorKind::usage, "severity", 0, 0,
                               "found \"" + std::string(name) + "\", expected off, info, warning or error"});
}

Result<KubeVersion> parse_kube_version(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('v')) rest.remove_prefix(1);
  KubeVersion version;
  const bool has_major = rest.starts_with("1.");
  if (has_major) rest.remove_prefix(2);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), version.minor);
  const bool is_complete = end == rest.data() + rest.size() || *end == '.';
  if (has_major && error == std::errc() && is_complete && version.minor < 1000) {
    version.is_stated = true;
    return version;
  }
  return std::unexpected(
      Error{ErrorKind::usage, "kube-version", 0, 0, "found \"" + std::string(text) + "\", expected 1.MINOR"});
}

Error no_such_rule(std::string_view id) {
  std::vector<std::string_view> known;
  for (const Rule* rule : all_rules()) known.push_back(rule->id);
  const std::string_view similar = manifest::did_you_mean(id, known);
  return {ErrorKind::usage, "rule", 0, 0,
          "found \"" + std::string(id) + "\", expected a rule of `capstan lint --list`" +
              (similar.empty() ? "" : " (did you mean " + std::string(similar) + "?)")};
}

Result<Config> parse_config(const std::string& text, const std::string& path) {
  const Result<Node> root = manifest::parse(text, path);
  if (!root) return std::unexpected(root.error());
  Config config;
  ErrorList errors;
  Fields fields(*root, "the configuration", errors);
  fields.check("rules", [&](const Node& node, ErrorList& v) { read_rules(node, v, config.options); });
  fields.check("kube_version", [&](const Node& node, ErrorList& v) { read_version(node, v, config.options); });
  fields.boolean("advice", config.options.advice);
  fields.boolean("closed_world", config.options.settings.is_complete_cluster);
  for (const Node& pattern : fields.list("exclude")) config.exclude.push_back(pattern.text);
  fields.finish();
  if (!errors.ok()) return std::unexpected(*errors.error);
  return config;
}

}  // namespace capstan::lint
