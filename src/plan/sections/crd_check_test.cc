#include "plan/sections/crd_check.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string_view>

#include "lint/crd_faults.h"

namespace capstan::plan {
namespace testing {

namespace {

using manifest::Value;

std::string kind_key(const Value& object) {
  const std::string_view version = object["apiVersion"].text;
  return std::string(version.substr(0, version.find('/'))) + " " + std::string(object["kind"].text);
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
  for (const lint::CrdFault& fault : lint::crd_faults(object, *schema->second)) {
    faults.push_back(fault.path + " " + fault.fault);
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

TEST(PlanCrdCheck, ReadsTheDefinitionsOfAFolder) {
  const testing::CrdSchemas own(std::filesystem::path(CAPSTAN_SOURCE_DIR) / "deploy/crds");
  const auto faults = [&](const std::string& text) {
    const manifest::Documents documents = manifest::Documents::parse(text);
    return own.faults_of(documents.all().front().root);
  };
  const std::string policy = "kind: FleetPolicy\nspec: {limit: 5}\n";
  EXPECT_EQ(faults("apiVersion: capstan.dev/v1alpha1\n" + policy),
            std::vector<std::string>{"spec.limit is no field; did you mean limits?"});
  EXPECT_EQ(faults("apiVersion: capstan.dev/v1\n" + policy),
            std::vector<std::string>{"apiVersion: no such version of FleetPolicy"});
}

}  // namespace
}  // namespace capstan::plan
