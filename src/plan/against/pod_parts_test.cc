#include "plan/against/pod_parts.h"

#include <gtest/gtest.h>

#include "plan/against/existing_object.h"

namespace capstan::plan {
namespace {

manifest::Node part_node(const std::string& text) { return manifest::parse(text, "old.yaml").value(); }
Yaml planned_part(const std::string& text) { return yaml_of(part_node(text)); }

constexpr const char* kPlannedEngine =
    "{name: engine, image: 'vllm/vllm-openai:v1', resources: {limits: {nvidia.com/gpu: 1}}}";

TEST(FindContainer, PairsTheEngineByItsWork) {
  const auto list = part_node(
      "[{name: proxy, image: envoy}, {name: vllm, image: 'vllm/vllm-openai:latest', resources: {limits: "
      "{nvidia.com/gpu: 1}}}]");
  EXPECT_EQ(find_container(planned_part(kPlannedEngine), list, {}), &list.items[1]);
}

TEST(FindContainer, PrefersTheNameAndTakesTheOnlyContainer) {
  const auto named = part_node("[{name: a, resources: {limits: {nvidia.com/gpu: 1}}}, {name: engine}]");
  EXPECT_EQ(find_container(planned_part(kPlannedEngine), named, {}), &named.items[1]);
  const auto only = part_node("[{name: server, image: corp/llm}]");
  EXPECT_EQ(find_container(planned_part(kPlannedEngine), only, {}), &only.items[0]);
}

TEST(FindContainer, PairsASidecarOnlyByName) {
  const auto list = part_node("[{name: vllm}]");
  EXPECT_EQ(find_container(planned_part("{name: weights}"), list, {}), nullptr);
}

TEST(PodParts, ReadsAContainer) {
  EXPECT_EQ(engine_word(planned_part("{image: corp/llm, command: [python3, -m, sglang.launch_server]}")), "sglang");
  EXPECT_EQ(engine_word(planned_part("{image: nginx}")), "");
  EXPECT_TRUE(asks_for_gpu(planned_part("{resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}")));
  EXPECT_FALSE(asks_for_gpu(planned_part("{resources: {limits: {cpu: 1}}}")));
  EXPECT_EQ(image_name("registry.corp:5000/a/vllm-openai:v1"), "vllm-openai");
}

TEST(PodParts, FindsTheTemplateOfALeader) {
  const auto body = part_node("{spec: {leaderWorkerTemplate: {leaderTemplate: {metadata: {labels: {a: b}}}}}}");
  EXPECT_EQ(text_at(*pod_labels_of(body), "a"), "b");
  EXPECT_EQ(pod_labels_of(part_node("{spec: {}}")), nullptr);
}

}  // namespace
}  // namespace capstan::plan
