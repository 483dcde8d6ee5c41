#include "manifest/object_instead.h"

#include <gtest/gtest.h>

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

TEST(OtherInputInstead, LeavesFilesWithErrorsOfTheirOwnToTheirReader) {
  for (const char* text : {"name: a\n", "service: {}\n", "load: {}\n", "cluster: {cloud: aws}\n", "- a\n"}) {
    EXPECT_FALSE(other_input_instead_of(*parse(text, "a.yaml"), InputFile::plan_spec)) << text;
    EXPECT_FALSE(other_input_instead_of(*parse(text, "a.yaml"), InputFile::scenario)) << text;
  }
}

}  // namespace
}  // namespace capstan::manifest
