#include "kube/meta.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

TEST(StringMap, IsSortedAndHasOneValuePerKey) {
  StringMap map{{"b", "2"}, {"a", "1"}, {"b", "3"}};
  EXPECT_EQ(map, (StringMap{{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(map.get("b"), "3");
  EXPECT_EQ(map.get("c"), "");
  EXPECT_FALSE(map.has("c"));
  EXPECT_TRUE(map.contains_all({{"a", "1"}}));
  EXPECT_TRUE(map.contains_all({}));
  EXPECT_FALSE(map.contains_all({{"a", "2"}}));
  EXPECT_FALSE((StringMap{}).contains_all(map));
}

TEST(StringMap, ManyEntriesInTheWorstOrderAreReadAtOnce) {
  std::string text = "{\"a\": \"first\", ";
  for (int i = 50'000; i > 0; --i) text += "\"key-" + std::to_string(i) + "\": \"v\", ";
  text += "\"a\": \"last\"}";
  JsonDocument document;
  const StringMap map = read_string_map(document.parse(text).value());
  EXPECT_EQ(map.size(), 50'001u);
  EXPECT_EQ(map.get("a"), "last");
  EXPECT_EQ(map.get("key-49999"), "v");
}

TEST(Meta, DropsManagedFieldsAndUnusedAnnotations) {
  JsonDocument document;
  const Result<Json> object = document.parse(R"({"metadata": {
    "name": "vllm-0", "namespace": "ml", "uid": "u-1", "resourceVersion": "007", "generation": 3,
    "creationTimestamp": "2026-11-21T16:15:33Z", "deletionTimestamp": null,
    "labels": {"app": "vllm"},
    "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{long}", "capstan.dev/gang": "g"},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u-2"},
                        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "u-3", "controller": true}],
    "managedFields": [{"manager": "kubectl"}]}})");
  ASSERT_TRUE(object);
  const Meta meta = read_meta(*object);
  EXPECT_EQ(meta.key(), "ml/vllm-0");
  EXPECT_EQ(meta.uid, "u-1");
  EXPECT_EQ(meta.resource_version, "007");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(wall_time_seconds(meta.created_at), "2026-11-21T16:15:33Z");
  EXPECT_FALSE(meta.terminating());
  EXPECT_EQ(meta.labels.get("app"), "vllm");
  EXPECT_EQ(meta.annotations, (StringMap{{"capstan.dev/gang", "g"}}));
  ASSERT_NE(meta.controller(), nullptr);
  EXPECT_EQ(meta.controller()->name, "r");
}

TEST(Meta, TellsAnObjectThatIsBeingDeletedFromTheTimestampAlone) {
  JsonDocument document;
  const Result<Json> object = document.parse(R"({"metadata": {"deletionTimestamp": "2026-11-21T16:15:33Z"}})");
  ASSERT_TRUE(object);
  EXPECT_TRUE(is_terminating(*object));
  EXPECT_TRUE(read_meta(*object).terminating());
  EXPECT_FALSE(is_terminating(Json()));
}

TEST(Meta, IsEmptyForAnAbsentObject) {
  EXPECT_EQ(read_meta(Json()), Meta());
  EXPECT_EQ(key_of("", "node"), "node");
}

}  // namespace
}  // namespace capstan::kube
