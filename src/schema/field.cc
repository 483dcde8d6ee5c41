#include "schema/field.h"

#include <algorithm>
#include <array>

#include "manifest/fields.h"

namespace capstan::schema {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

constexpr std::array<std::string_view, 7> kBounds = {"minimum",  "maximum",  "minLength",    "maxLength",
                                                     "minItems", "maxItems", "maxProperties"};
constexpr std::array<std::string_view, 6> kTypes = {"object", "array", "string", "integer", "boolean", "conditions"};

void read_strings(Fields& from, std::string_view key, std::vector<std::string>& out) {
  for (const Node& item : from.list(key)) out.push_back(item.text);
}

void read_rules(Fields& from, std::vector<Field::Rule>& out, ErrorList& errors) {
  for (const Node& item : from.list("rules")) {
    Fields fields(item, "rules", errors);
    Field::Rule rule;
    if (fields.take_required("check") != nullptr) fields.text("check", rule.check);
    if (fields.take_required("message") != nullptr) fields.text("message", rule.message);
    fields.finish();
    out.push_back(std::move(rule));
  }
}

Field read_field(const std::string& name, const Node& node, std::string fallback_type, ErrorList& errors);

void read_children(Fields& from, Field& field, ErrorList& errors) {
  from.check("properties", [&](const Node& node, ErrorList& v) {
    for (const Node::Entry& entry : node.entries) field.children.push_back(read_field(entry.key, entry.value, "", v));
  });
  from.check("items", [&](const Node& node, ErrorList& v) { field.children.push_back(read_field("", node, "", v)); });
  from.check("additionalProperties", [&](const Node& node, ErrorList& v) {
    Fields values(node, field.name + ".additionalProperties", v);
    values.text("type", field.map_of);
    values.finish();
  });
  if (field.type == "array" && !field.conditions && field.children.empty()) {
    errors.fail(from.node().place, field.name + ": an array without items, expected the type of its items");
  }
  for (const std::string& key : field.required) {
    if (std::ranges::find(field.children, key, &Field::name) != field.children.end()) continue;
    errors.fail(from.node().place, field.name + ": " + key + " is required, expected a property of that name");
  }
}

Field read_field(const std::string& name, const Node& node, std::string fallback_type, ErrorList& errors) {
  Field field;
  field.name = name;
  field.type = std::move(fallback_type);
  Fields fields(node, name, errors);
  fields.text("type", field.type);
  if (std::ranges::find(kTypes, field.type) == kTypes.end()) {
    errors.fail(node.place, name + ": type \"" + field.type + "\", expected " + manifest::one_of(kTypes));
  }
  field.conditions = field.type == "conditions";
  if (field.conditions) field.type = "array";
  fields.text("format", field.format);
  fields.text("about", field.description);
  fields.text("pattern", field.pattern);
  fields.text("listKey", field.list_key);
  field.default_value = fields.take("default");
  read_strings(fields, "enum", field.values);
  read_strings(fields, "required", field.required);
  for (std::string_view bound : kBounds) {
    std::int64_t value = 0;
    if (fields.take(bound) == nullptr) continue;
    fields.integer(bound, value, 0, 1'000'000'000);
    field.bounds.emplace_back(bound, std::to_string(value));
  }
  read_rules(fields, field.rules, errors);
  read_children(fields, field, errors);
  fields.finish();
  return field;
}

}  // namespace

Result<Kind> read_kind(const Node& description) {
  ErrorList errors;
  Kind kind;
  Fields fields(description, "description", errors);
  for (const auto& [key, out] : {std::pair{"kind", &kind.kind},
                                 {"plural", &kind.plural},
                                 {"short", &kind.short_name},
                                 {"scope", &kind.scope},
                                 {"about", &kind.description}}) {
    if (fields.take_required(key) != nullptr) fields.text(key, *out);
  }
  for (const Node& item : fields.list("columns")) {
    Fields column(item, "columns", errors);
    Kind::Column& out = kind.columns.emplace_back();
    column.text("name", out.name);
    column.text("type", out.type);
    column.text("path", out.path);
    column.boolean("wide", out.wide);
    column.finish();
  }
  kind.root.type = "object";
  read_strings(fields, "required", kind.root.required);
  read_rules(fields, kind.root.rules, errors);
  for (const char* part : {"spec", "status"}) {
    if (const Node* node = fields.take_required(part))
      kind.root.children.push_back(read_field(part, *node, "object", errors));
  }
  fields.finish();
  if (!errors.ok()) return std::unexpected(*errors.error);
  return kind;
}

}  // namespace capstan::schema
