#include "plan/objects/yaml.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(PlanYaml, WritesMappingsListsAndCommentsInBlockStyle) {
  Yaml pool = Yaml::map({{"apiVersion", "karpenter.sh/v1"}, {"kind", "NodePool"}});
  pool["metadata"].set("name", "h100");
  pool["spec"]["disruption"].set("consolidateAfter", "1h", "a replica needs 4 min to start again");
  pool["spec"].set("taints", Yaml::list({Yaml::map({{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}})}));
  EXPECT_EQ(pool.document(), R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: h100
spec:
  disruption:
    # a replica needs 4 min to start again
    consolidateAfter: "1h"
  taints:
  - key: nvidia.com/gpu
    effect: NoSchedule
)");
}

TEST(PlanYaml, QuotesATextThatYamlWouldReadAsAnotherType) {
  for (const std::string_view text :
       {"1", "0.5", "true", "no", "y", "null", "", "~", "1h", "- a", "#x", "a: b", "*", "10%"}) {
    EXPECT_EQ(Yaml(text).document(), "\"" + std::string(text) + "\"\n");
  }
  for (const std::string_view text : {"vllm/vllm-openai:v0.17.0", "http://a.b:9090", "nvidia.com/gpu", "WhenEmpty"}) {
    EXPECT_EQ(Yaml(text).document(), std::string(text) + "\n");
  }
}

TEST(PlanYaml, WritesATextOfSeveralLinesAsALiteralBlock) {
  Yaml data;
  data["data"].set("config.yaml", "version: v1\n\nmig-configs: {}\n");
  EXPECT_EQ(data.document(), "data:\n  config.yaml: |\n    version: v1\n\n    mig-configs: {}\n");
}

TEST(PlanYaml, WritesEmptyCollectionsInFlowStyle) {
  EXPECT_EQ(Yaml::map({{"a", Yaml()}, {"b", Yaml::list()}}).document(), "a: {}\nb: []\n");
}

TEST(PlanYaml, GivesTheReasonWithoutTheInstructionToTheLinter) {
  Yaml object;
  object.set("a", 1, "capstan:ignore some-rule one is enough").set("b", 2, "one is enough");
  EXPECT_EQ(object["a"].reason(), "one is enough");
  EXPECT_EQ(object["b"].reason(), "one is enough");
}

TEST(PlanYaml, PutsTheCommentOfAFirstKeyAboveTheDash) {
  Yaml list = Yaml::list();
  list.add(Yaml()).set("nodes", "0", "no node is disrupted during the day").set("duration", "14h");
  EXPECT_EQ(list.document(), "# no node is disrupted during the day\n- nodes: \"0\"\n  duration: \"14h\"\n");
}

}  // namespace
}  // namespace capstan::plan
