#include "scenario/json_schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "base/split.h"
#include "scenario/reader_table.h"

namespace capstan::golden {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDecimal = R"(\$?[0-9]+(_[0-9]+)*(\.[0-9]+)?)";
/// Keys whose value determines which other keys a mapping may have.
const Strings kSelectingValues = {"policy", "kind", "process"};
/// Keys whose presence determines which other keys a mapping may have.
const Strings kSelectingKeys = {"services", "manifest", "prefill", "variants", "roles",   "sizes",
                                "count",    "per_hour", "trace",   "file",     "service", "jobs"};
const Strings kPlanForms = {"trace", "profile", "prometheus", "count", "per_hour"};
/// Keys of lists whose elements are a name or a mapping.
const std::set<std::string> kNamesOrMappings = {"instances"};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns a path with list indices replaced: "cluster.pools.*" for "cluster.pools.0".
std::string path_pattern(const std::string& path) {
  std::string pattern;
  for (const std::string_view step : split(path, '.')) {
    pattern += (pattern.empty() ? "" : ".") + (is_number(step) ? "*" : std::string(step));
  }
  return pattern;
}

std::string last_key(std::string position) {
  while (position.ends_with(".*")) position.resize(position.size() - 2);
  return position.substr(position.rfind('.') + 1);
}

std::string definition_key(std::string name) {
  std::erase(name, ',');
  std::ranges::replace(name, ' ', '_');
  return name;
}

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + definition_key(name)}}; }
Json text_like(const std::string& pattern) { return {{"type", "string"}, {"pattern", "^" + pattern + "$"}}; }

/// One kind of a mapping: the condition for this kind, its keys and its required keys.
struct Variant {
  std::string decider;  ///< key that determines the kind; empty if none does
  std::string value;    ///< value of the decider; empty if its presence is enough
  std::set<std::string> keys;
  std::set<std::string> required;
  std::map<std::string, Json> properties{};  ///< properties of keys that differ from those in other kinds

  /// Adds the keys of another mapping of the same kind.
  void merge(const Variant& other) {
    keys.insert(other.keys.begin(), other.keys.end());
    std::erase_if(required, [&](const std::string& key) { return !other.required.contains(key); });
    for (const auto& [key, property] : other.properties) properties.try_emplace(key, property);
  }

  Json condition() const {
    Json when = {{"required", Json::array({decider})}};
    if (!value.empty()) when["properties"] = {{decider, {{"const", value}}}};
    return when;
  }
};

class SchemaBuilder {
 public:
  explicit SchemaBuilder(Format format) : format_(format) {
    for (const Mapping& mapping : mappings()) {
      if (mapping.format != format) continue;
      definitions_.try_emplace(mapping.path, mapping.name());
      definitions_.try_emplace(path_pattern(mapping.path), mapping.name());
      if (!rows_.contains(mapping.name())) names_.push_back(mapping.name());
      rows_[mapping.name()].push_back(&mapping);
    }
  }

  Json build() {
    Json schema = {
        {"$schema", "http://json-schema.org/draft-07/schema#"},
        {"title", format_ == Format::plan ? "Capstan plan" : "Capstan scenario"},
        {"description", "docs/reference/" + page_name(format_) + ". This file is written by scripts/generate."}};
    schema.update(definition(names_.front()));
    for (std::size_t i = 1; i < names_.size(); ++i) {
      schema["definitions"][definition_key(names_[i])] = definition(names_[i]);
    }
    return schema;
  }

 private:
  Json definition(const std::string& name) {
    Json out = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    std::vector<Variant> variants;
    for (const Mapping* mapping : rows_[name]) {
      Variant one = variant_of(*mapping);
      for (const std::string& key : one.keys) {
        if (!out["properties"].contains(key)) out["properties"][key] = property(reference_mapping(name, key), key);
      }
      const auto same = std::ranges::find_if(
          variants, [&](const Variant& v) { return v.decider == one.decider && v.value == one.value; });
      if (same == variants.end()) {
        variants.push_back(std::move(one));
      } else {
        same->merge(one);
      }
    }
    split_properties(variants, out);
    const std::set<std::string> always_required = required_by_all(variants);
    if (!always_required.empty()) out["required"] = always_required;
    add_conditions(variants, always_required, out);
    return out;
  }

  static Json without_description(Json property) {
    property.erase("description");
    property.erase("examples");
    return property;
  }

  /// Moves the property of a key into the variants if the key has different meanings in them.
  static void split_properties(std::vector<Variant>& variants, Json& out) {
    for (auto& [key, property] : out["properties"].items()) {
      const auto differs = [&](const Variant& v) {
        const auto own_property = v.properties.find(key);
        return own_property != v.properties.end() &&
               without_description(own_property->second) != without_description(property);
      };
      if (std::ranges::none_of(variants, differs)) {
        for (Variant& variant : variants) variant.properties.erase(key);
      } else {
        property = Json::object();
      }
    }
  }

  Variant variant_of(const Mapping& mapping) {
    Variant variant;
    for (const std::string& key : keys_of(mapping)) {
      variant.keys.insert(key);
      if (is_required(mapping, key)) variant.required.insert(key);
    }
    const std::set<std::string>& used = used_by(mapping);
    for (const std::string& key : kSelectingValues) {
      if (used.contains(key)) variant.decider = key, variant.value = value_of(mapping, key);
    }
    for (const std::string& key : format_ == Format::plan ? kPlanForms : kSelectingKeys) {
      if (mapping.name() == "existing" && key == "count") continue;  // a number of nodes, which decides nothing
      if (variant.decider.empty() && used.contains(key)) variant.decider = key;
    }
    for (const std::string& key : variant.keys) {
      if (!variant.value.empty()) variant.properties[key] = property(mapping, key);
    }
    return variant;
  }

  static std::set<std::string> required_by_all(const std::vector<Variant>& variants) {
    std::set<std::string> all = variants.front().required;
    for (const Variant& variant : variants) {
      std::erase_if(all, [&](const std::string& key) { return !variant.required.contains(key); });
    }
    return all;
  }

  /// Adds conditions for keys that only some kinds of the mapping have or require, or that differ between the kinds.
  static void add_conditions(const std::vector<Variant>& variants, const std::set<std::string>& always_required,
                             Json& out) {
    const auto is_like_first = [&](const Variant& v) {
      return v.keys == variants.front().keys && v.required == variants.front().required && v.properties.empty();
    };
    if (std::ranges::all_of(variants, is_like_first)) return;
    Json deciders = Json::array();
    for (const Variant& variant : variants) {
      const Json decider = {{"required", Json::array({variant.decider})}};
      if (!variant.decider.empty() && std::ranges::find(deciders, decider) == deciders.end())
        deciders.push_back(decider);
    }
    bool may_lack_decider = false;  // a mapping may lack every key that selects its kind
    for (const Variant& variant : variants) {
      Json then = {{"propertyNames", {{"enum", variant.keys}}}};
      if (!variant.properties.empty()) then["properties"] = variant.properties;
      for (const std::string& key : variant.required) {
        if (!always_required.contains(key)) then["required"].push_back(key);
      }
      const bool needs_decider = variant.value.empty() || variant.required.contains(variant.decider);
      may_lack_decider = may_lack_decider || variant.decider.empty() || !needs_decider;
      const Json when = variant.decider.empty() ? Json{{"not", {{"anyOf", deciders}}}} : variant.condition();
      out["allOf"].push_back({{"if", when}, {"then", then}});
    }
    if (!may_lack_decider) out["anyOf"] = deciders;
  }

  /// Returns the mapping from which to read the property of a key: the first that has the key in the example, otherwise
  /// the first that accepts it.
  const Mapping& reference_mapping(const std::string& name, const std::string& key) {
    for (const Mapping* mapping : rows_[name]) {
      if (used_by(*mapping).contains(key)) return *mapping;
    }
    for (const Mapping* mapping : rows_[name]) {
      if (std::ranges::count(keys_of(*mapping), key) > 0) return *mapping;
    }
    return *rows_[name].front();
  }

  Json property(const Mapping& mapping, const std::string& key) {
    const Column& column = column_of(mapping, key);
    Json out = value_of_type(mapping, key, column);
    std::string description = description_of(mapping, key);
    const bool has_bounds_in_schema = column.type == "choice" || column.type == "integer" || column.type == "number";
    if (!column.bounds.empty() && !has_bounds_in_schema)
      description += (description.empty() ? "" : " ") + ("(" + column.bounds + ")");
    if (description.empty()) return out;
    if (out.contains("$ref")) out = Json{{"allOf", Json::array({out})}};  // draft 7 ignores other keys next to $ref
    Json with_description = {{"description", description}};
    with_description.update(out);
    if (format_ == Format::plan) add_example(mapping, key, column, with_description);
    return with_description;
  }

  /// Adds the value of the full example, if it is a scalar. A file of this repository is named relative to its root.
  static void add_example(const Mapping& mapping, const std::string& key, const Column& column, Json& property) {
    constexpr std::string_view kRoot = CAPSTAN_SOURCE_DIR "/";
    std::string value = value_of(mapping, key);
    if (value.empty()) return;
    if (value.starts_with(kRoot)) value.erase(0, kRoot.size());
    const bool is_json = column.type == "integer" || column.type == "number" || column.type == "boolean";
    property["examples"] = Json::array({is_json ? Json::parse(value, nullptr, false) : Json(value)});
  }

  Json value_of_type(const Mapping& mapping, const std::string& key, const Column& column) {
    const std::string decimal = kDecimal;
    const std::string durations = "( *" + decimal + " *(ns|us|ms|s|m|min|h|d) *)+";
    const Json zero = {{"const", 0}};
    if (column.type == "integer" || column.type == "number") return number(column);
    if (column.type == "boolean") return {{"type", "boolean"}};
    if (column.type == "choice") return {{"enum", split_items(column.bounds)}};
    if (column.type == "duration") return {{"anyOf", {text_like(durations), zero}}};
    if (column.type == "bytes") return text_like(decimal + " *([kKMGT]?B|[KMGT]iB)");
    if (column.type == "bandwidth") return text_like(decimal + " *([kKMGT]?B|[KMGT]iB|[MGT]?bit)/s");
    if (column.type == "share") return {{"anyOf", {text_like(decimal + " *%"), {{"type", "number"}, {"minimum", 0}}}}};
    if (column.type == "USD") return {{"anyOf", {text_like(decimal), {{"type", "number"}, {"minimum", 0}}}}};
    if (column.type == "quantity") return {{"anyOf", {text_like(R"([0-9.]+(m|k|[KMGTPE]i?)?)"), {{"type", "number"}}}}};
    if (column.type == "latency") {
      return {{"anyOf", {text_like(durations + R"((\.\.)" + durations + ")?"), zero, reference("A latency")}}};
    }
    if (column.type == "tokens, or mapping") {
      return {{"anyOf", {{{"type", "integer"}, {"minimum", 1}}, mapping_at(mapping, key)}}};
    }
    if (column.type == "integer, or mapping") {
      Column whole = column;
      whole.type = "integer";
      return {{"anyOf", {number(whole), mapping_at(mapping, key)}}};
    }
    if (column.type == "duration, or mapping") {
      return {{"anyOf", {text_like(durations), mapping_at(mapping, key)}}};
    }
    if (column.type == "requests/s, or mapping") {
      return {{"anyOf", {{{"type", "number"}, {"minimum", 0}}, mapping_at(mapping, key)}}};
    }
    if (column.type == "name, or list") {
      const Json name = {{"type", {"string", "number"}}};
      return {{"anyOf", {name, {{"type", "array"}, {"items", name}, {"minItems", 1}}}}};
    }
    if (column.type == "name, or mapping") return name_or_mapping(mapping, key);
    if (column.type == "mapping") return mapping_at(mapping, key);
    if (column.type == "list") return list(mapping, key);
    return {{"type", {"string", "number", "boolean"}}};  // a text may look like a number or a boolean
  }

  static Json number(const Column& column) {
    Json out = {{"type", column.type}};
    const std::size_t to = column.bounds.find(" to ");
    if (to == column.bounds.npos) return out;
    out["minimum"] = Json::parse(column.bounds.substr(0, to));
    out["maximum"] = Json::parse(column.bounds.substr(to + 4));
    if (column.type == "number") return out;
    return {{"anyOf", {out, text_like(R"(-?[0-9]+(_[0-9]+)+)")}}};
  }

  /// Returns the schema of a layer: the name of a policy, or a mapping with its settings.
  Json name_or_mapping(const Mapping& mapping, const std::string& key) {
    const std::string name = mapping.name() == "scale" ? mapping.name() : definition_at(mapping, key).value_or("");
    if (!rows_.contains(name)) {
      ADD_FAILURE() << mapping.path << "." << key << " is a mapping that mappings() lacks";
      return {};
    }
    const Column& policies = column_of(reference_mapping(name, "policy"), "policy");
    return {{"anyOf", {{{"enum", split_items(policies.bounds)}}, reference(name)}}};
  }

  Json list(const Mapping& mapping, const std::string& key) {
    Json out = {{"type", "array"}};
    if (is_nonempty_list(mapping, key)) out["minItems"] = 1;
    const std::optional<std::string> name = definition_at(mapping, key);
    out["items"] = name ? reference(*name) : Json{{"type", {"string", "number", "boolean"}}};
    if (kNamesOrMappings.contains(key)) out["items"] = {{"anyOf", {Json{{"type", "string"}}, out["items"]}}};
    return out;
  }

  Json mapping_at(const Mapping& mapping, const std::string& key) {
    static const std::set<std::string> kFree = {"sweep", "labels", "headers",
                                                "node_selector"};  // the user chooses their keys
    if (kFree.contains(key)) return {{"type", "object"}};
    if (mapping.name() == "scale" && (key == "variants" || key == "services")) {
      return {{"type", "object"}, {"additionalProperties", name_or_mapping(mapping, key)}};
    }
    const std::optional<std::string> name = definition_at(mapping, key);
    if (!name) ADD_FAILURE() << mapping.path << "." << key << " is a mapping that mappings() lacks";
    return name ? reference(*name) : Json();
  }

  /// Returns the definition of the value of a key: the definition at its path, otherwise at its pattern, otherwise the
  /// only definition that keys of this name have.
  std::optional<std::string> definition_at(const Mapping& mapping, const std::string& key) const {
    const std::string path = child_path(mapping.path, key);
    const std::string pattern = path_pattern(path);
    for (const std::string& at : {path, pattern, pattern + ".*"}) {
      if (const auto found = definitions_.find(at); found != definitions_.end()) return found->second;
    }
    std::set<std::string> candidates;
    for (const auto& [at, name] : definitions_) {
      if (last_key(at) == key) candidates.insert(name);
    }
    return candidates.size() == 1 ? std::optional(*candidates.begin()) : std::nullopt;
  }

  /// Returns the description of a key, with its default, from the page of the format (scenario.md or plan.md).
  static std::string description_of(const Mapping& mapping, const std::string& key) {
    if (mapping.heading.empty()) return "";
    const std::string text = section(mapping.format, mapping.heading);
    const std::size_t at = text.find(fmt::format("\n| `{}` |", key));
    if (at == text.npos) return "";
    const std::string row = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    const std::vector<std::string_view> cells = split(row, '|');
    if (cells.size() < 6) return "";
    const auto cell = [&](std::size_t i) {
      const std::string plain = std::regex_replace(std::string(cells[i]), std::regex(R"(\[([^\]]*)\]\([^)]*\))"), "$1");
      return std::regex_replace(plain, std::regex("^ +| +$|`"), "");
    };
    const std::string default_value = cell(4), meaning = cell(5);
    if (default_value.empty()) return meaning;
    return meaning + (meaning.empty() ? "" : "; ") + "default: " + default_value;
  }

  Format format_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<const Mapping*>> rows_;
  std::map<std::string, std::string> definitions_;  ///< names of definitions by path and by path pattern
};

/// Checks the rules of a schema in order and returns the first that does not hold.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  std::string fault(const Json& schema_or_reference, const nlohmann::json& value, const std::string& at) const {
    const Json& schema =
        schema_or_reference.contains("$ref") ? target(schema_or_reference["$ref"]) : schema_or_reference;
    if (std::string found = value_fault(schema, value, at); !found.empty()) return found;
    if (std::string found = combined_fault(schema, value, at); !found.empty()) return found;
    if (value.is_object()) return object_fault(schema, value, at);
    return value.is_array() ? array_fault(schema, value, at) : "";
  }

 private:
  const Json& target(const std::string& reference) const { return root_["definitions"][reference.substr(14)]; }
  bool fits(const Json& schema, const nlohmann::json& value) const { return fault(schema, value, "").empty(); }

  static bool has_type(const std::string& type, const nlohmann::json& value) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "array") return value.is_array();
    return type == "object" && value.is_object();
  }

  static const std::regex& compiled(const std::string& pattern) {
    static std::map<std::string, std::regex> known;
    const auto found = known.find(pattern);
    return found != known.end() ? found->second : known.emplace(pattern, pattern).first->second;
  }

  static std::string value_fault(const Json& schema, const nlohmann::json& value, const std::string& at) {
    if (const auto type = schema.find("type"); type != schema.end()) {
      const Json all = type->is_array() ? *type : Json::array({*type});
      if (std::ranges::none_of(all, [&](const Json& one) { return has_type(one, value); })) return at + ": type";
    }
    if (const auto known = schema.find("enum"); known != schema.end()) {
      if (std::ranges::none_of(*known, [&](const Json& one) { return one == value; })) return at + ": enum";
    }
    if (schema.contains("const") && schema["const"] != value) return at + ": const";
    if (value.is_string() && schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), compiled(schema["pattern"].get<std::string>()))) {
      return at + ": pattern";
    }
    const auto is_number_with = [&](const char* bound) { return value.is_number() && schema.contains(bound); };
    if (is_number_with("minimum") && value.get<double>() < schema["minimum"].get<double>()) return at + ": minimum";
    if (is_number_with("maximum") && value.get<double>() > schema["maximum"].get<double>()) return at + ": maximum";
    return "";
  }

  std::string combined_fault(const Json& schema, const nlohmann::json& value, const std::string& at) const {
    const auto fitting = [&](const Json& one) { return fits(one, value); };
    if (schema.contains("anyOf") && std::ranges::none_of(schema["anyOf"], fitting)) return at + ": anyOf";
    if (schema.contains("not") && fits(schema["not"], value)) return at + ": not";
    if (schema.contains("if") && fits(schema["if"], value)) return fault(schema["then"], value, at);
    if (!schema.contains("allOf")) return "";
    for (const Json& one : schema["allOf"]) {
      if (std::string found = fault(one, value, at); !found.empty()) return found;
    }
    return "";
  }

  std::string object_fault(const Json& schema, const nlohmann::json& value, const std::string& at) const {
    if (schema.contains("required")) {
      for (const Json& key : schema["required"]) {
        if (!value.contains(key.get<std::string>())) return at + ": required " + key.get<std::string>();
      }
    }
    for (const auto& [key, child] : value.items()) {
      const std::string below = at + "." + key;
      if (schema.contains("propertyNames") && !fits(schema["propertyNames"], key)) return below + ": propertyNames";
      if (schema.contains("properties") && schema["properties"].contains(key)) {
        if (std::string found = fault(schema["properties"][key], child, below); !found.empty()) return found;
      } else if (const auto others = schema.find("additionalProperties"); others != schema.end()) {
        if (*others == false) return below + ": additionalProperties";
        if (std::string found = fault(*others, child, below); !found.empty()) return found;
      }
    }
    return "";
  }

  std::string array_fault(const Json& schema, const nlohmann::json& value, const std::string& at) const {
    if (schema.contains("minItems") && value.size() < schema["minItems"]) return at + ": minItems";
    if (!schema.contains("items")) return "";
    for (const auto& item : value) {
      if (std::string found = fault(schema["items"], item, at + "[]"); !found.empty()) return found;
    }
    return "";
  }

  const Json& root_;
};

nlohmann::json scalar_as_json(const manifest::Node& node) {
  static const std::regex kInteger("[-+]?[0-9]+"), kFloat(R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)");
  if (node.is_null()) return nullptr;
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (std::regex_match(node.text, kInteger) && node.text.size() < 19) return std::stoll(node.text);
  if (std::regex_match(node.text, kFloat)) return std::stod(node.text);
  return node.text;
}

}  // namespace

nlohmann::ordered_json schema_of(Format format) { return SchemaBuilder(format).build(); }

nlohmann::json as_json(const manifest::Node& node) {
  if (node.kind == manifest::Node::Kind::scalar) return scalar_as_json(node);
  nlohmann::json out = node.kind == manifest::Node::Kind::mapping ? nlohmann::json::object() : nlohmann::json::array();
  for (const manifest::Node& item : node.items) out.push_back(as_json(item));
  for (const manifest::Node::Entry& entry : node.entries) {
    if (!entry.value.is_null()) out[entry.key] = as_json(entry.value);  // a key without a value counts as absent
  }
  return out;
}

std::string schema_fault(const nlohmann::ordered_json& schema, const nlohmann::json& value) {
  return Validator(schema).fault(schema, value, "");
}

}  // namespace capstan::golden
