#include "plan/against/scaler_facts.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using Labels = std::map<std::string, std::string>;

ExistingObject object_of(const std::string& text) { return {"deploy.yaml", *manifest::parse(text, "deploy.yaml")}; }

TEST(ScalerFacts, TheMaximumIsThatOfTheFileAndOfKeda) {
  EXPECT_EQ(stated_maxima(object_of("kind: HorizontalPodAutoscaler\nspec: {maxReplicas: 10}")),
            std::vector<ReplicaCount>{10});
  EXPECT_EQ(stated_maxima(object_of("kind: HorizontalPodAutoscaler\nspec: {}")), std::vector<ReplicaCount>{});
  EXPECT_EQ(stated_maxima(object_of("kind: ScaledObject\nspec: {maxReplicaCount: 8}")), std::vector<ReplicaCount>{8});
  EXPECT_EQ(stated_maxima(object_of("kind: ScaledObject\nspec: {}")), std::vector<ReplicaCount>{100});
  EXPECT_EQ(stated_maxima(object_of("kind: InferenceScaler\nspec: {roles: [{maxReplicas: 3}, {maxReplicas: 5}]}")),
            (std::vector<ReplicaCount>{3, 5}));
}

TEST(ScalerFacts, LabelsAreThoseThatTheQueriesAskFor) {
  const ExistingObject scaled = object_of(R"(kind: ScaledObject
spec:
  triggers:
  - metadata: {query: 'sum(vllm:num_requests_waiting{namespace="llm",app="chat",pod=~"chat-.*"})'}
  - metadata: {query: 'max(vllm:kv_cache_usage_perc{namespace="other",le="1"}) * 2'}
  - metadata: {query: 'sum(('}
  - type: cron
)");
  EXPECT_EQ(queried_labels(scaled), (Labels{{"namespace", "llm"}, {"app", "chat"}}));
  const ExistingObject hpa = object_of(R"(kind: HorizontalPodAutoscaler
spec:
  metrics:
  - {type: External, external: {metric: {name: waiting, selector: {matchLabels: {model_name: llama}}}}}
)");
  EXPECT_EQ(queried_labels(hpa), (Labels{{"model_name", "llama"}}));
}

}  // namespace
}  // namespace capstan::plan
