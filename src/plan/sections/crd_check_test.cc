#include "plan/sections/crd_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

namespace capstan::plan {
namespace testing {

namespace {

using manifest::Value;

std::string kind_key(const Value& object) {
  const std::string_view version = object["apiVersion"].text;
  return std::string(version.substr(0, version.find('/'))) + " " + std::string(object["kind"].text);
}

void crd_check(const Value& value, const Value& schema, const std::string& path, std::vector<std::string>& faults);

void crd_check_object(const Value& value, const Value& schema, const std::string& path,
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
      crd_check(field, known, below, faults);
    } else if (any.is_mapping()) {
      crd_check(field, any, below, faults);
    } else if (!is_open && !any.is("true")) {
      faults.push_back(below + ": unknown field");
    }
  }
}

void crd_check_array(const Value& value, const Value& schema, const std::string& path,
                     std::vector<std::string>& faults) {
  if (!value.is_sequence()) {
    faults.push_back(path + ": expected a list");
    return;
  }
  if (const auto most = schema["maxItems"].integer(); most && value.count > *most)
    faults.push_back(path + ": too long");
  if (const auto least = schema["minItems"].integer(); least && value.count < *least)
    faults.push_back(path + ": too short");
  for (std::size_t i = 0; i < value.count; ++i)
    crd_check(value[i], schema["items"], path + "[" + std::to_string(i) + "]", faults);
}

void crd_check_text(const Value& value, const Value& schema, const std::string& path,
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

void crd_check_number(const Value& value, const Value& schema, const std::string& path,
                      std::vector<std::string>& faults) {
  const auto number = value.style == manifest::Style::plain ? value.number() : std::nullopt;
  if (!number) {
    faults.push_back(path + ": expected a number");
    return;
  }
  if (const auto least = schema["minimum"].number(); least && *number < *least) faults.push_back(path + ": too small");
  if (const auto most = schema["maximum"].number(); most && *number > *most) faults.push_back(path + ": too large");
}

void crd_check(const Value& value, const Value& schema, const std::string& path, std::vector<std::string>& faults) {
  const std::string_view type = schema["type"].text;
  if (schema["x-kubernetes-int-or-string"].is("true")) {
    if (value.form != manifest::Form::scalar) faults.push_back(path + ": expected a number or a text");
  } else if (type == "object") {
    crd_check_object(value, schema, path, faults);
  } else if (type == "array") {
    crd_check_array(value, schema, path, faults);
  } else if (type == "string") {
    crd_check_text(value, schema, path, faults);
  } else if (type == "integer" || type == "number") {
    crd_check_number(value, schema, path, faults);
  } else if (type == "boolean") {
    const bool is_word = value.is("true") || value.is("false");
    if (!is_word || value.style != manifest::Style::plain) faults.push_back(path + ": expected true or false");
  }
}

}  // namespace

CrdSchemas::CrdSchemas(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") read(entry.path());
  }
}

bool CrdSchemas::knows(const Value& object) const { return kinds_.contains(kind_key(object)); }

std::vector<std::string> CrdSchemas::faults_of(const Value& object) const {
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
      crd_check(field, known, std::string(field.key), faults);
    } else {
      faults.push_back(std::string(field.key) + ": unknown field");
    }
  }
  return faults;
}

void CrdSchemas::read(const std::filesystem::path& path) {
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

}  // namespace testing

namespace {

TEST(PlanCrdCheck, FindsWhatADefinitionDoesNotAllow) {
  const testing::CrdSchemas own(std::filesystem::path(CAPSTAN_SOURCE_DIR) / "deploy/crds");
  struct Row {
    std::string object, fault;
  };
  const std::string policy = "apiVersion: capstan.dev/v1alpha1\nkind: FleetPolicy\nspec:\n";
  for (const Row& row :
       {Row{policy + "  layers: {replicas: Shadow}\n", ""},
        Row{policy + "  layers: {replicas: On}\n", "spec.layers.replicas: On is not one of the choices"},
        Row{policy + "  limit: 5\n", "spec.limit: unknown field"},
        Row{policy + "  limits: {gpus: \"5\"}\n", "spec.limits.gpus: expected a number"},
        Row{policy + "  limits: {gpus: -5}\n", "spec.limits.gpus: too small"},
        Row{policy + "  limits: [5]\n", "spec.limits: expected a mapping"},
        Row{policy + "  halt: \"true\"\n", "spec.halt: expected true or false"},
        Row{policy + "  instanceTypes: [{name: a, gpu: b}]\n", "spec.instanceTypes[0]: gpus is missing"}}) {
    const manifest::Documents documents = manifest::Documents::parse(row.object);
    const std::vector<std::string> faults = own.faults_of(documents.all().front().root);
    EXPECT_EQ(faults, row.fault.empty() ? std::vector<std::string>() : std::vector<std::string>{row.fault});
  }
}

}  // namespace
}  // namespace capstan::plan
