#include "operator/scaler_view.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

// That every field of the schema is read: tests/operator/scaler_fields_test.cc.

InferenceScaler read(std::string_view text) {
  kube::JsonDocument document;
  return read_inference_scaler(document.parse(text).value());
}

TEST(ScalerView, WhatIsLeftOutHasTheSchemasDefault) {
  const InferenceScaler scaler = read(R"({"metadata": {"name": "chat"}, "spec": {"model": "m", "slo": {"ttft": "2s"},
    "roles": [{"variants": [{"targetRef": {"kind": "Deployment", "name": "chat"}, "maxReplicas": 3}]}]}})");
  EXPECT_EQ(scaler.slo.ttft, std::chrono::seconds(2));
  EXPECT_EQ(scaler.slo.attainment_ppm, 990'000u);
  ASSERT_EQ(scaler.roles.size(), 1u);
  EXPECT_EQ(scaler.roles[0].role, model::Role::both);
  EXPECT_EQ(scaler.roles[0].variants.at(0).target, (kube::TargetRef{"apps/v1", "Deployment", "chat"}));
  EXPECT_EQ(scaler.roles[0].variants[0].min_replicas, 1);
  EXPECT_EQ(scaler.interval, std::chrono::seconds(15));
  EXPECT_EQ(scaler.port, std::nullopt);
  EXPECT_EQ(scaler.path, "/metrics");
  EXPECT_EQ(scaler.waiting_per_replica, 4);
  EXPECT_EQ(scaler.running_per_replica, std::nullopt);
  EXPECT_EQ(scaler.cool_down, std::chrono::minutes(5));
  EXPECT_EQ(scaler.mode, Mode::shadow);
}

TEST(ScalerView, WhatNoServerWouldLetThroughReadsAsTheDefault) {
  const InferenceScaler scaler = read(R"({"metadata": {"name": "chat"}, "spec": {"slo": {"ttft": "soon",
    "attainment": "200%"}, "roles": "none", "mode": 7, "queue": {"waitingPerReplica": -3},
    "signals": {"interval": "-1s"}, "behavior": []}})");
  EXPECT_EQ(scaler.slo.ttft, Duration{});
  EXPECT_LE(scaler.slo.attainment_ppm, 1'000'000u);
  EXPECT_TRUE(scaler.roles.empty());
  EXPECT_EQ(scaler.mode, Mode::shadow);
  EXPECT_EQ(scaler.waiting_per_replica, 1);
  EXPECT_GT(scaler.interval, Duration{});
}

}  // namespace
}  // namespace capstan::op
