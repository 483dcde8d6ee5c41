#include "plan/against/existing_object.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(ExistingObject, HasGroupKindNamespaceAndName) {
  const ExistingObject object{"a.yaml", manifest::parse("{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, "
                                                        "metadata: {name: chat, namespace: llm}}",
                                                        "a.yaml")
                                            .value()};
  EXPECT_EQ(object.group(), "keda.sh");
  EXPECT_EQ(object.kind(), "ScaledObject");
  EXPECT_EQ(object.namespace_name(), "llm");
  EXPECT_EQ(object.name(), "chat");
  EXPECT_EQ(api_group("v1"), "");
}

TEST(ExistingObject, BecomesYamlThatKeepsTypes) {
  const auto node = manifest::parse("{replicas: 3, text: '3', on: true, list: [1, {a: b}]}", "a.yaml");
  EXPECT_EQ(yaml_of(*node).flow(), R"({"replicas": 3, "text": "3", "on": true, "list": [1, {"a": "b"}]})");
}

}  // namespace
}  // namespace capstan::plan
