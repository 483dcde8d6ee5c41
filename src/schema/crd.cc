#include "schema/crd.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "schema/field.h"

namespace capstan::schema {
namespace {

constexpr std::string_view kGroup = "capstan.dev";
constexpr std::string_view kVersion = "v1alpha1";
constexpr std::string_view kDurationPattern = "^([0-9]+(ms|s|m|h))+$";

/// Returns the text in double quotes, as in JSON and YAML.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

/// Writes lines of block YAML with their indentation.
class Writer {
 public:
  void line(std::string_view text) { out_ += std::string(2 * depth_, ' ') + std::string(text) + "\n"; }
  template <typename Body>
  void block(std::string_view head, Body&& body) {
    line(head);
    ++depth_;
    body();
    --depth_;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::size_t depth_ = 0;
};

std::string default_text(const Field& field) {
  if (field.type == "object") return "{}";
  return field.type == "string" ? quoted(field.default_value->text) : field.default_value->text;
}

void write_rules(Writer& out, const Field& field) {
  if (field.rules.empty()) return;
  out.block("x-kubernetes-validations:", [&] {
    for (const Field::Rule& rule : field.rules) {
      out.line("- rule: " + quoted(rule.check));
      out.line("  message: " + quoted(rule.message));
    }
  });
}

void write_list(Writer& out, std::string_view key, const std::vector<std::string>& values) {
  if (values.empty()) return;
  out.block(fmt::format("{}:", key), [&] {
    for (const std::string& value : values) out.line("- " + quoted(value));
  });
}

/// Writes the schema of a list of metav1.Condition.
void write_conditions(Writer& out) {
  out.line("type: array");
  out.line("x-kubernetes-list-type: map");
  out.line("x-kubernetes-list-map-keys: [type]");
  out.block("items:", [&] {
    out.line("type: object");
    out.line("required: [type, status, lastTransitionTime, reason, message]");
    out.block("properties:", [&] {
      out.line("type: {type: string, maxLength: 316}");
      out.line("status: {type: string, enum: [\"True\", \"False\", \"Unknown\"]}");
      out.line("observedGeneration: {type: integer, format: int64, minimum: 0}");
      out.line("lastTransitionTime: {type: string, format: date-time}");
      out.line("reason: {type: string, maxLength: 1024, minLength: 1}");
      out.line("message: {type: string, maxLength: 32768}");
    });
  });
}

void write_field(Writer& out, const Field& field) {
  if (!field.description.empty()) out.line("description: " + quoted(field.description));
  if (field.conditions) return write_conditions(out);
  out.line("type: " + field.type);
  if (field.type == "integer") out.line("format: int64");
  if (field.format == "date-time") out.line("format: date-time");
  if (field.format == "duration") out.line("pattern: " + quoted(kDurationPattern));
  if (!field.pattern.empty()) out.line("pattern: " + quoted(field.pattern));
  write_list(out, "enum", field.values);
  if (field.default_value != nullptr) out.line("default: " + default_text(field));
  for (const auto& [bound, value] : field.bounds) out.line(bound + ": " + value);
  if (!field.list_key.empty()) {
    out.line("x-kubernetes-list-type: map");
    out.line(fmt::format("x-kubernetes-list-map-keys: [{}]", field.list_key));
  }
  write_list(out, "required", field.required);
  write_rules(out, field);
  if (!field.map_of.empty()) out.line(fmt::format("additionalProperties: {{type: {}}}", field.map_of));
  if (field.type == "array") {
    out.block("items:", [&] { write_field(out, field.children.front()); });
  } else if (!field.children.empty()) {
    out.block("properties:", [&] {
      for (const Field& child : field.children) out.block(child.name + ":", [&] { write_field(out, child); });
    });
  }
}

void write_columns(Writer& out, const Kind& kind) {
  out.block("additionalPrinterColumns:", [&] {
    for (const Kind::Column& column : kind.columns) {
      out.line("- name: " + column.name);
      out.line("  type: " + column.type);
      if (column.wide) out.line("  priority: 1");
      out.line("  jsonPath: " + quoted(column.path));
    }
  });
}

/// Writes the schema of the whole object: the described fields, and the fields that every object has.
void write_schema(Writer& out, const Kind& kind) {
  out.line("description: " + quoted(kind.description));
  out.line("type: object");
  write_list(out, "required", kind.root.required);
  write_rules(out, kind.root);
  out.block("properties:", [&] {
    for (const char* standard : {"apiVersion", "kind"}) out.line(fmt::format("{}: {{type: string}}", standard));
    out.line("metadata: {type: object}");
    for (const Field& part : kind.root.children) out.block(part.name + ":", [&] { write_field(out, part); });
  });
}

std::string type_text(const Field& field) {
  if (field.conditions) return "list of conditions";
  std::string words = field.type == "array" ? "list" : !field.map_of.empty() ? "map of " + field.map_of : field.type;
  if (!field.format.empty()) words = field.format;
  if (!field.values.empty()) {
    words = "one of";
    for (const std::string& value : field.values) words += " `" + value + "`";
  }
  return words;
}

std::string bounds_text(const Field& field) {
  std::string words;
  for (const auto& [bound, value] : field.bounds) words += (words.empty() ? "" : ", ") + bound + " " + value;
  return words;
}

std::string table_cell(std::string text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

void describe(std::string& out, const Field& field, const std::string& path, bool required) {
  const std::string name = field.type == "array" && !field.conditions ? path + "[]" : path;
  out += fmt::format("| `{}` | {} | {} | {} | {} |\n", name, type_text(field),
                     field.default_value != nullptr ? "`" + default_text(field) + "`"
                     : required                     ? "required"
                                                    : "",
                     bounds_text(field), table_cell(field.description));
  const std::vector<Field>& children =
      field.type == "array" && !field.children.empty() ? field.children.front().children : field.children;
  const std::vector<std::string>& required_names =
      field.type == "array" && !field.children.empty() ? field.children.front().required : field.required;
  for (const Field& child : children) {
    describe(out, child, name + "." + child.name,
             std::ranges::find(required_names, child.name) != required_names.end());
  }
}

/// Describes the columns that kubectl shows.
std::string columns_text(const Kind& kind) {
  std::string always;
  std::string wide;
  for (const Kind::Column& column : kind.columns) {
    std::string& names = column.wide ? wide : always;
    names += (names.empty() ? "" : ", ") + column.name;
  }
  std::string out = "\nColumns of `kubectl get`: " + always;
  if (!wide.empty()) out += "; with `--output wide` also " + wide;
  return kind.columns.empty() ? std::string() : out + ".\n";
}

void collect_rules(const Field& field, std::vector<std::string>& out) {
  for (const Field::Rule& rule : field.rules) out.push_back(rule.message);
  for (const Field& child : field.children) collect_rules(child, out);
}

}  // namespace

Result<std::string> crd_yaml(const manifest::Node& description) {
  const Result<Kind> read = read_kind(description);
  if (!read) return std::unexpected(read.error());
  const Kind& kind = *read;
  Writer out;
  out.line("# Generated from schema/crds by scripts/generate.");
  out.line("apiVersion: apiextensions.k8s.io/v1");
  out.line("kind: CustomResourceDefinition");
  out.block("metadata:", [&] { out.line(fmt::format("name: {}.{}", kind.plural, kGroup)); });
  out.block("spec:", [&] {
    out.line(fmt::format("group: {}", kGroup));
    out.line("scope: " + kind.scope);
    out.block("names:", [&] {
      out.line("kind: " + kind.kind);
      out.line(fmt::format("listKind: {}List", kind.kind));
      out.line("plural: " + kind.plural);
      out.line("singular: " + lower(kind.kind));
      out.line(fmt::format("shortNames: [{}]", kind.short_name));
      out.line("categories: [capstan]");
    });
    out.line("versions:");
    out.block(fmt::format("- name: {}", kVersion), [&] {
      out.line("served: true");
      out.line("storage: true");
      out.line("subresources: {status: {}}");
      write_columns(out, kind);
      out.block("schema:", [&] { out.block("openAPIV3Schema:", [&] { write_schema(out, kind); }); });
    });
  });
  return out.take();
}

Result<std::string> reference_page(const manifest::Node& description) {
  const Result<Kind> read = read_kind(description);
  if (!read) return std::unexpected(read.error());
  const Kind& kind = *read;
  std::string out = fmt::format(
      "# {}\n\n{}\n\n`apiVersion: {}/{}`, `kubectl get {}`, scope {}. Generated from `schema/crds` by "
      "`scripts/generate`.\n",
      kind.kind, kind.description, kGroup, kVersion, kind.short_name, lower(kind.scope));
  for (const Field& part : kind.root.children) {
    out +=
        fmt::format("\n## {}\n\n| field | type | default | bounds | description |\n|---|---|---|---|---|\n", part.name);
    for (const Field& child : part.children) {
      const bool required = std::ranges::find(part.required, child.name) != part.required.end();
      describe(out, child, child.name, required);
    }
  }
  out += columns_text(kind);
  std::vector<std::string> rules;
  collect_rules(kind.root, rules);
  if (!rules.empty()) out += "\nThe API server rejects an object that breaks one of these rules:\n\n";
  for (const std::string& rule : rules) out += "- " + rule + "\n";
  return out;
}

}  // namespace capstan::schema
