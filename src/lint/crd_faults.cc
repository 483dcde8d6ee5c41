#include "lint/crd_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <utility>

#include "lint/own_definitions.h"
#include "manifest/fields.h"

namespace capstan::lint {

namespace {

using manifest::Documents;
using manifest::Value;

std::string found_text(const Value& value) {
  if (value.is_mapping()) return "a mapping";
  if (value.is_sequence()) return "a list";
  const bool is_plain = value.style == manifest::Style::plain;
  return is_plain ? fmt::format("{:.60}", value.text) : fmt::format("\"{:.60}\"", value.text);
}

std::vector<std::string_view> choices_of(const Value& list) {
  std::vector<std::string_view> out;
  for (const Value& element : list.children()) out.push_back(element.text);
  return out;
}

/// Returns "; did you mean X?", or nothing if no name is similar.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names) {
  const std::string_view similar = manifest::did_you_mean(word, names);
  return similar.empty() ? "" : fmt::format("; did you mean {}?", similar);
}

/// Returns the compiled form of a pattern. Definitions have few patterns, and to compile one takes longer than to
/// compare an object.
const std::regex& compiled(std::string_view pattern) {
  thread_local std::map<std::string, std::regex, std::less<>> known;
  const auto found = known.find(pattern);
  if (found != known.end()) return found->second;
  return known.emplace(pattern, std::regex(pattern.begin(), pattern.end())).first->second;
}

/// Compares the values of one object with its schema.
class CrdComparison {
 public:
  void compare(const Value& value, const Value& schema, const std::string& path) {
    if (value.is_null()) return;
    const std::string_view type = schema["type"].text;
    if (schema["x-kubernetes-int-or-string"].is("true")) {
      if (value.form != manifest::Form::scalar) expect(value, path, "a number or a text");
    } else if (type == "object") {
      compare_mapping(value, schema, path);
    } else if (type == "array") {
      compare_list(value, schema, path);
    } else if (type == "string") {
      compare_text(value, schema, path);
    } else if (type == "integer" || type == "number") {
      compare_number(value, schema, path, type == "integer");
    } else if (type == "boolean") {
      const bool is_word = value.is("true") || value.is("false");
      if (!is_word || value.style != manifest::Style::plain) expect(value, path, "true or false, without quotes");
    }
  }

  void add_missing_fields(const Value& value, const Value& schema, std::string_view path) {
    for (const Value& name : schema["required"].children()) {
      if (value[name.text]) continue;
      add({.value = &value,
           .is_missing_field = true,
           .path = std::string(path),
           .fault = fmt::format("lacks {}, which is required", name.text)});
    }
  }

  void add(CrdFault fault) { faults_.push_back(std::move(fault)); }
  std::vector<CrdFault> take() { return std::move(faults_); }

 private:
  void expect(const Value& value, const std::string& path, std::string_view expected) {
    add({.value = &value, .path = path, .fault = fmt::format("is {}, expected {}", found_text(value), expected)});
  }

  void compare_mapping(const Value& value, const Value& schema, const std::string& path) {
    if (!value.is_mapping()) return expect(value, path, "a mapping");
    add_missing_fields(value, schema, path);
    const bool is_open = schema["x-kubernetes-preserve-unknown-fields"].is("true");
    const Value& known = schema["properties"];
    const Value& any = schema["additionalProperties"];
    for (const Value& field : value.children()) {
      const std::string below = fmt::format("{}.{}", path, field.key);
      if (known.has(field.key)) {
        compare(field, known[field.key], below);
      } else if (any.is_mapping()) {
        compare(field, any, below);
      } else if (!is_open && !any.is("true")) {
        add_unknown(field, known, below);
      }
    }
  }

  void add_unknown(const Value& field, const Value& known, const std::string& path) {
    std::vector<std::string_view> names;
    for (const Value& name : known.children()) names.push_back(name.key);
    std::string fault = "is no field" + suggestion(field.key, names);
    if (!fault.ends_with('?')) fault = fmt::format("is no field, expected one of {}", manifest::one_of(names));
    add({.value = &field, .is_unknown_field = true, .path = path, .fault = std::move(fault)});
  }

  void compare_list(const Value& value, const Value& schema, const std::string& path) {
    if (!value.is_sequence()) return expect(value, path, "a list");
    const auto has_wrong_size = [&](std::string_view bound, std::string_view words) {
      const auto size = schema[bound].integer();
      if (!size || (bound == "maxItems" ? value.count <= *size : value.count >= *size)) return;
      add({.value = &value,
           .path = path,
           .fault = fmt::format("has {} elements, expected {} {}", value.count, words, *size)});
    };
    has_wrong_size("maxItems", "at most");
    has_wrong_size("minItems", "at least");
    for (std::size_t i = 0; i < value.count; ++i) compare(value[i], schema["items"], fmt::format("{}[{}]", path, i));
  }

  void compare_text(const Value& value, const Value& schema, const std::string& path) {
    const bool reads_as_other =
        value.style == manifest::Style::plain && (value.number() || value.is("true") || value.is("false"));
    if (value.form != manifest::Form::scalar || reads_as_other) return expect(value, path, "a text");
    const std::vector<std::string_view> choices = choices_of(schema["enum"]);
    if (!choices.empty() && std::ranges::find(choices, value.text) == choices.end()) {
      return expect(value, path, manifest::one_of(choices) + suggestion(value.text, choices));
    }
    const std::string_view pattern = schema["pattern"].text;
    if (!pattern.empty() && !std::regex_search(value.text.begin(), value.text.end(), compiled(pattern))) {
      return expect(value, path, fmt::format("a text that matches {}", pattern));
    }
    const auto size = static_cast<std::int64_t>(value.text.size());
    if (const auto least = schema["minLength"].integer(); least && size < *least) {
      expect(value, path, *least == 1 ? "a text that is not empty" : fmt::format("at least {} characters", *least));
    }
    if (const auto most = schema["maxLength"].integer(); most && size > *most) {
      expect(value, path, fmt::format("at most {} characters", *most));
    }
  }

  void compare_number(const Value& value, const Value& schema, const std::string& path, bool is_whole) {
    const auto number = value.style == manifest::Style::plain ? value.number() : std::nullopt;
    const bool has_fraction = number && is_whole && *number != std::trunc(*number);
    if (!number || has_fraction) return expect(value, path, is_whole ? "a whole number" : "a number");
    if (const auto least = schema["minimum"].number(); least && *number < *least) {
      expect(value, path, fmt::format("at least {:g}", *least));
    }
    if (const auto most = schema["maximum"].number(); most && *number > *most) {
      expect(value, path, fmt::format("at most {:.0f}", *most));
    }
  }

  std::vector<CrdFault> faults_;
};

}  // namespace

std::vector<CrdFault> crd_faults(const Value& object, const Value& schema) {
  CrdComparison comparison;
  const Value& known = schema["properties"];
  comparison.add_missing_fields(object, schema, "the object");
  for (const Value& field : object.children()) {
    const std::string_view key = field.key;
    if (key == "apiVersion" || key == "kind" || key == "metadata" || key == "status") continue;
    if (known.has(key)) {
      comparison.compare(field, known[key], std::string(key));
    } else {
      comparison.add({.value = &field,
                      .is_unknown_field = true,
                      .path = std::string(key),
                      .fault = "is no field of the object; its fields are in spec"});
    }
  }
  return comparison.take();
}

const Value& own_schema(std::string_view api_version, std::string_view kind) {
  static const std::vector<Documents> definitions = [] {
    std::vector<Documents> out;
    for (const char* text : {kFleetPolicyDefinition, kInferenceScalerDefinition, kQueueDefinition}) {
      out.push_back(Documents::parse(text));
    }
    return out;
  }();
  for (const Documents& definition : definitions) {
    const Value& spec = definition.all().front().root["spec"];
    if (spec["names"]["kind"].text != kind) continue;
    for (const Value& version : spec["versions"].children()) {
      const std::string name = fmt::format("{}/{}", spec["group"].text, version["name"].text);
      if (name == api_version) return version["schema"]["openAPIV3Schema"];
    }
  }
  return Value::missing();
}

}  // namespace capstan::lint
