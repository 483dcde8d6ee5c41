#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/document.h"

// Checks objects against the structure that CustomResourceDefinitions give them. It reads types, required fields,
// unknown fields, enums, patterns and bounds. Rules in CEL need an API server: tests/e2e/plan_test.py.
namespace capstan::plan::testing {

using manifest::Value;

class CrdSchemas {
 public:
  /// Reads all definitions of a folder.
  explicit CrdSchemas(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") read(entry.path());
    }
  }

  /// Returns true if a definition describes the kind. A kind of a known group in an unknown version is a fault.
  bool knows(const Value& object) const { return kinds_.contains(kind_key(object)); }

  /// Returns what is wrong with an object, as "spec.limits: unknown field".
  std::vector<std::string> faults_of(const Value& object) const {
    std::vector<std::string> faults;
    const auto schema = schemas_.find(std::string(object["apiVersion"].text) + " " + std::string(object["kind"].text));
    if (schema == schemas_.end()) {
      faults.push_back("apiVersion: no such version of " + std::string(object["kind"].text));
      return faults;
    }
    for (const Value& field : object.children()) {
      if (field.key == "apiVersion" || field.key == "kind" || field.key == "metadata") continue;
      const Value& known = (*schema->second)["properties"][field.key];
      if (known) {
        check(field, known, std::string(field.key), faults);
      } else {
        faults.push_back(std::string(field.key) + ": unknown field");
      }
    }
    return faults;
  }

 private:
  struct File {
    std::string text;
    manifest::Documents documents;
  };

  static std::string kind_key(const Value& object) {
    const std::string_view version = object["apiVersion"].text;
    return std::string(version.substr(0, version.find('/'))) + " " + std::string(object["kind"].text);
  }

  void read(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    auto file = std::make_unique<File>();
    file->text = text.str();
    file->documents = manifest::Documents::parse(file->text);
    for (const manifest::Document& document : file->documents.all()) {
      const Value& spec = document.root["spec"];
      const std::string group(spec["group"].text);
      const std::string kind(spec["names"]["kind"].text);
      kinds_[group + " " + kind] = true;
      for (const Value& version : spec["versions"].children()) {
        if (!version["served"].is("true")) continue;
        schemas_[group + "/" + std::string(version["name"].text) + " " + kind] = &version["schema"]["openAPIV3Schema"];
      }
    }
    files_.push_back(std::move(file));
  }

  static void check(const Value& value, const Value& schema, const std::string& path, std::vector<std::string>& faults) {
    const std::string_view type = schema["type"].text;
    if (schema["x-kubernetes-int-or-string"].is("true")) {
      if (value.form != manifest::Form::scalar) faults.push_back(path + ": expected a number or a text");
    } else if (type == "object") {
      check_object(value, schema, path, faults);
    } else if (type == "array") {
      check_array(value, schema, path, faults);
    } else if (type == "string") {
      check_text(value, schema, path, faults);
    } else if (type == "integer" || type == "number") {
      check_number(value, schema, path, faults);
    } else if (type == "boolean") {
      const bool is_word = value.is("true") || value.is("false");
      if (!is_word || value.style != manifest::Style::plain) faults.push_back(path + ": expected true or false");
    }
  }

  static void check_object(const Value& value, const Value& schema, const std::string& path,
                           std::vector<std::string>& faults) {
    if (!value.is_mapping()) {
      faults.push_back(path + ": expected a mapping");
      return;
    }
    for (const Value& name : schema["required"].children()) {
      if (!value.has(name.text)) faults.push_back(path + ": " + std::string(name.text) + " is missing");
    }
    const bool is_open = schema["x-kubernetes-preserve-unknown-fields"].is("true");
    for (const Value& field : value.children()) {
      const std::string below = path + "." + std::string(field.key);
      const Value& known = schema["properties"][field.key];
      const Value& any = schema["additionalProperties"];
      if (known) {
        check(field, known, below, faults);
      } else if (any.is_mapping()) {
        check(field, any, below, faults);
      } else if (!is_open && !any.is("true")) {
        faults.push_back(below + ": unknown field");
      }
    }
  }

  static void check_array(const Value& value, const Value& schema, const std::string& path,
                          std::vector<std::string>& faults) {
    if (!value.is_sequence()) {
      faults.push_back(path + ": expected a list");
      return;
    }
    if (const auto most = schema["maxItems"].integer(); most && value.count > *most) faults.push_back(path + ": too long");
    if (const auto least = schema["minItems"].integer(); least && value.count < *least)
      faults.push_back(path + ": too short");
    for (std::size_t i = 0; i < value.count; ++i)
      check(value[i], schema["items"], path + "[" + std::to_string(i) + "]", faults);
  }

  static void check_text(const Value& value, const Value& schema, const std::string& path,
                         std::vector<std::string>& faults) {
    const bool reads_as_number = value.style == manifest::Style::plain && (value.number() || value.is("true"));
    if (value.form != manifest::Form::scalar || reads_as_number) {
      faults.push_back(path + ": expected a text");
      return;
    }
    bool is_listed = schema["enum"].count == 0;
    for (const Value& choice : schema["enum"].children()) is_listed = is_listed || choice.text == value.text;
    if (!is_listed) faults.push_back(path + ": " + std::string(value.text) + " is not one of the choices");
    const std::string pattern(schema["pattern"].text);
    if (!pattern.empty() && !std::regex_search(std::string(value.text), std::regex(pattern)))
      faults.push_back(path + ": " + std::string(value.text) + " does not match " + pattern);
  }

  static void check_number(const Value& value, const Value& schema, const std::string& path,
                           std::vector<std::string>& faults) {
    const auto number = value.style == manifest::Style::plain ? value.number() : std::nullopt;
    if (!number) {
      faults.push_back(path + ": expected a number");
      return;
    }
    if (const auto least = schema["minimum"].number(); least && *number < *least) faults.push_back(path + ": too small");
    if (const auto most = schema["maximum"].number(); most && *number > *most) faults.push_back(path + ": too large");
  }

  std::vector<std::unique_ptr<File>> files_;
  std::map<std::string, const Value*> schemas_;  ///< by apiVersion and kind
  std::map<std::string, bool> kinds_;            ///< by group and kind
};

}  // namespace capstan::plan::testing
