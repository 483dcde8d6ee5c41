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

}  // namespace
}  // namespace capstan::manifest
