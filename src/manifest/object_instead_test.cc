#include "manifest/object_instead.h"

#include <gtest/gtest.h>

#include <fstream>

namespace capstan::manifest {
namespace {

TEST(ObjectInstead, NamesTheKindAndTheCommandThatReadsIt) {
  const Result<Node> object = parse("apiVersion: apps/v1\nkind: Deployment\n", "a.yaml");
  ASSERT_TRUE(object);
  EXPECT_EQ(object_instead_of(*object, "a scenario")->text(),
            "a.yaml:1:1: found a Kubernetes object of kind \"Deployment\", expected a scenario; `capstan lint` reads "
            "manifests");
}

TEST(ObjectInstead, AcceptsOtherFiles) {
  for (const char* text : {"name: a\n", "kind: a\n", "apiVersion: v1\n", "apiVersion: v1\nkind: [a]\n"}) {
    EXPECT_FALSE(object_instead_of(*parse(text, "a.yaml"), "a scenario")) << text;
  }
}

TEST(OtherInputInstead, NamesTheCommandThatReadsTheFile) {
  const Result<Node> scenario = parse("name: a\nload: {}\nservice: {}\npolicies: []\n", "a.yaml");
  EXPECT_EQ(other_input_instead_of(*scenario, InputFile::plan_spec)->text(),
            "a.yaml:4:1: found the key policies of a scenario, expected the spec of a plan; `capstan compare a.yaml` "
            "simulates a scenario");
  EXPECT_FALSE(other_input_instead_of(*scenario, InputFile::scenario));
  const Result<Node> spec = parse("cluster: {zones: [a], cloud: aws}\nservices: []\n", "b.yaml");
  EXPECT_EQ(other_input_instead_of(*spec, InputFile::scenario)->text(),
            "b.yaml:1:23: found the key cloud of the spec of a plan, expected a scenario; `capstan plan b.yaml` reads "
            "such a spec");
  EXPECT_FALSE(other_input_instead_of(*spec, InputFile::plan_spec));
}

TEST(ObjectInstead, NamesTheFirstOfSeveralObjects) {
  const std::string path = ::testing::TempDir() + "objects_instead.yaml";
  std::ofstream(path) << "apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: v1\nkind: Service\n";
  const auto fault = objects_instead_of(path, "a scenario");
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->text().contains("found a Kubernetes object of kind \"Deployment\", expected a scenario"));
  std::ofstream(path) << "name: a\n---\nname: b\n";
  EXPECT_FALSE(objects_instead_of(path, "a scenario"));
}

TEST(OtherInputInstead, KnowsTracesResultsAndSnapshots) {
  const auto fault = [](const char* text, InputFile expected) {
    const auto found = other_input_instead_of(*parse(text, "a.txt"), expected);
    return found ? found->text() : "none";
  };
  EXPECT_EQ(fault("timestamp,prompt_tokens,completion_tokens\n1,2,3\n", InputFile::scenario),
            "a.txt:1:1: found a table, expected a scenario; `capstan compare SCENARIO --trace a.txt` reads a trace");
  EXPECT_EQ(fault("{\"format_version\": 1, \"scenario\": \"a\", \"policies\": []}", InputFile::scenario),
            "a.txt:1:3: found the key format_version of a result, expected a scenario; `capstan serve a.txt` shows a "
            "result");
  const char* scenario = "name: a\npolicies: []\n";
  EXPECT_EQ(fault(scenario, InputFile::snapshot),
            "a.txt:2:1: found the key policies of a scenario, expected a snapshot; `capstan snapshot --scenario a.txt "
            "--at 10m` writes a snapshot of its simulation");
  EXPECT_EQ(fault("format_version: 2\npolicies: {}\n", InputFile::snapshot), "none");
  EXPECT_EQ(fault(scenario, InputFile::manifests),
            "a.txt:2:1: found the key policies of a scenario, expected Kubernetes objects; `capstan compare a.txt` "
            "simulates a scenario");
}

TEST(OtherInputInstead, LeavesFilesWithErrorsOfTheirOwnToTheirReader) {
  for (const char* text : {"name: a\n", "service: {}\n", "load: {}\n", "cluster: {cloud: aws}\n", "- a\n"}) {
    EXPECT_FALSE(other_input_instead_of(*parse(text, "a.yaml"), InputFile::plan_spec)) << text;
    EXPECT_FALSE(other_input_instead_of(*parse(text, "a.yaml"), InputFile::scenario)) << text;
  }
}

}  // namespace
}  // namespace capstan::manifest
