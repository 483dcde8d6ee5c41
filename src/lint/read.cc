#include "lint/read.h"

#include <algorithm>
#include <utility>

#include "lint/input/flat.h"
#include "lint/input/json_fault.h"
#include "lint/input/recognise.h"
#include "lint/input/shell_text.h"
#include "lint/pods.h"
#include "lint/rules.h"

namespace capstan::lint {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool is_markdown(const std::string& path) { return path.ends_with(".md") || path.ends_with(".markdown"); }

/// Returns the syntax error of a `.json` file with its place. Files without objects may have comments, because they
/// belong to other tools.
std::optional<Error> broken_json(const File& file, bool has_objects) {
  const std::optional<JsonFault> fault = has_objects ? json_fault(file.text) : json_fault(without_comments(file.text));
  if (!fault) return std::nullopt;
  const auto place = file.lines().at(fault->offset);
  return Error{ErrorKind::input, file.path, place.line, place.column, fault->message};
}

/// Returns true for a patch of Kustomize: it has a `$patch` directive, or it is a partial object.
bool is_patch(const Object& object) {
  const auto directs = [](const Value& value) { return value.has("$patch"); };
  if (directs(*object.root) || directs(object["spec"]) || directs(at(object, "spec.template.spec"))) return true;
  return pod_maker(object) && object["spec"].is_mapping() && is_partial(object);
}

void add_fault(const manifest::Fault& fault, Reading& out) {
  using Kind = manifest::Fault::Kind;
  const bool is_duplicate = fault.kind == Kind::duplicate_key || fault.kind == Kind::equal_duplicate;
  add_finding(out, is_duplicate ? "yaml-duplicate-key" : "yaml-syntax", fault.span, fault.message);
  if (fault.kind == Kind::equal_duplicate) out.findings.back().severity = Severity::warning;
}

void read_document(const manifest::Document& document, Reading& out) {
  ++out.summary.documents;
  for (const manifest::Fault& fault : document.faults) add_fault(fault, out);
  find_objects(*out.file, document.root, out.objects);
}

/// Returns false for a document that is skipped with its syntax errors. Excerpts in prose are often shortened on
/// purpose, other tools have their own templates, and YAML that is not a manifest may have keys that are not strings.
bool is_worth_reporting(const File& file, const manifest::Document& document, Summary& summary) {
  if (document.faults.empty()) return true;
  const std::string_view text = file.parsed().substr(document.span.begin, document.span.size());
  if (!document.root && (text.find("{{") != text.npos || text.find("<%") != text.npos) && is_text(text)) {
    ++summary.templates;
    return false;
  }
  if (document.faults[0].kind == manifest::Fault::Kind::key_not_text && !mentions_objects(text)) return false;
  if (!file.is_excerpt()) return true;
  return mentions_objects(text) && text.find("...") == text.npos && text.find('<') == text.npos;
}

}  // namespace

void add_finding(Reading& reading, std::string_view rule_id, Span span, std::string message) {
  const Rule* rule = find_rule(rule_id);
  if (rule == nullptr) return;
  reading.findings.push_back({.rule = rule,
                              .severity = rule->severity,
                              .file = reading.file.get(),
                              .object = nullptr,
                              .span = span,
                              .message = std::move(message),
                              .fix = {}});
}

Reading read_text(Text text) {
  Reading out;
  out.file = std::make_unique<File>(std::move(text.path), std::move(text.text));
  File& file = *out.file;
  file.scope = text.scope.empty() ? folder_of(file.path) : std::move(text.scope);
  file.deployers = std::move(text.deployers);
  file.patched_kinds = std::move(text.patched_kinds);
  if (is_markdown(file.path)) {
    file.scope = file.path;
    file.yaml = fenced_yaml(file.text);
    if (file.yaml.empty()) return out;
  } else if (file.path.ends_with(".json")) {
    const bool has_objects = mentions_objects(file.text);
    if (text.named && !is_template(file.text)) out.broken = broken_json(file, has_objects);
    if (out.broken || !has_objects) return out;
  }
  ++out.summary.files;
  if (file.yaml.empty() && is_template(file.text)) {
    ++out.summary.templates;
    return out;
  }
  search_commands(file, out);
  if (find_flat(file, out)) return out;
  if (file.path.ends_with(".txt") && !mentions_objects(file.text)) return out;
  file.documents = manifest::Documents::parse(file.parsed());
  for (const manifest::Document& document : file.documents.all()) {
    if (is_worth_reporting(file, document, out.summary)) read_document(document, out);
  }
  const std::size_t all = out.objects.size();
  std::erase_if(out.objects, [&](const Object& object) { return text.patch || is_patch(object); });
  out.summary.patches += all - out.objects.size();
  out.summary.objects += out.objects.size();
  return out;
}

}  // namespace capstan::lint
