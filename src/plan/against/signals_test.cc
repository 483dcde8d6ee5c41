#include "plan/against/signals.h"

#include <gtest/gtest.h>

#include "plan/against/existing_object.h"

namespace capstan::plan {
namespace {

std::vector<std::string> metrics_of(const std::string& text) {
  return scaler_metrics(yaml_of(manifest::parse(text, "a.yaml").value()));
}

TEST(ScalerMetrics, AreReadFromHpaAndScaledObject) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(metrics_of("{type: External, external: {metric: {name: waiting}, target: {type: AverageValue}}}"),
            Names{"waiting"});
  EXPECT_EQ(metrics_of("{type: Pods, pods: {metric: {name: 'vllm:num_requests_waiting'}}}"),
            Names{"vllm:num_requests_waiting"});
  EXPECT_EQ(metrics_of("{type: Resource, resource: {name: cpu}}"), Names{"cpu"});
  EXPECT_EQ(metrics_of("{type: prometheus, metadata: {query: 'sum(b{x=\"1\"}) + sum(a)'}}"), (Names{"a", "b"}));
  EXPECT_EQ(metrics_of("{type: cron, metadata: {start: 0 6 * * *}}"), Names{"cron"});
}

TEST(WhyRemove, NamesTheDefectOfTheOldMetric) {
  EXPECT_NE(why_remove({"DCGM_FI_DEV_GPU_UTIL"}, {}, false).find("duty cycle"), std::string::npos);
  EXPECT_NE(why_remove({"DCGM_FI_DEV_FB_USED"}, {}, false).find("reserves its KV memory"), std::string::npos);
  EXPECT_NE(why_remove({"cpu"}, {}, false).find("CPU of an engine's pod"), std::string::npos);
  EXPECT_EQ(why_remove({"vllm:num_requests_waiting"}, {{"vllm_num_requests_waiting"}}, true),
            "the plan reads the same signal as a sum over all replicas; with both, the higher answer decides; on its "
            "own it also acts late, because a queue forms only when all replicas are full");
  EXPECT_EQ(why_remove({"my_metric"}, {{"vllm_num_requests_waiting"}}, true),
            "the plan does not scale on it; an autoscaler takes the highest answer of its metrics, so this one would "
            "still decide");
}

}  // namespace
}  // namespace capstan::plan
