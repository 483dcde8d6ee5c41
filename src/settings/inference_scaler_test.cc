#include "settings/inference_scaler.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace capstan::settings {
namespace {

using namespace std::chrono_literals;

/// Reads an InferenceScaler with these further keys in its spec.
InferenceScalerManifest read(const std::string& more, manifest::ErrorList& errors) {
  const std::string text = fmt::format(R"(apiVersion: capstan.dev/v1alpha1
kind: InferenceScaler
metadata: {{name: chat}}
spec:
  model: meta-llama/Llama-3.3-70B-Instruct
  slo: {{ttft: 2s, attainment: 99%}}
  roles:
  - variants:
    - targetRef: {{kind: Deployment, name: chat}}
      minReplicas: 2
      maxReplicas: 8
{})",
                                       more);
  const auto node = manifest::parse(text, "isc.yaml");
  EXPECT_TRUE(node) << text;
  return read_inference_scaler(*node, errors);
}

TEST(InferenceScalerManifest, ReadsModelSloAndBounds) {
  manifest::ErrorList errors;
  const InferenceScalerManifest scaler = read("", errors);
  ASSERT_TRUE(errors.ok()) << errors.error->text();
  EXPECT_EQ(scaler.model, "meta-llama/Llama-3.3-70B-Instruct");
  EXPECT_EQ(scaler.slo.ttft, 2s);
  EXPECT_EQ(scaler.roles.at(0).variants.at(0).min, 2);
  EXPECT_EQ(scaler.roles.at(0).variants.at(0).max, 8);
}

TEST(InferenceScalerManifest, ChoosesThePolicyAsTheControllerDoes) {
  struct Case {
    const char* more;
    std::size_t policy;  ///< index into decide::scale::Policy
  };
  const auto index = [](decide::scale::Policy policy) { return policy.index(); };
  const Case cases[] = {
      {"", index(decide::scale::Capstan{})},
      {"  policy: Queue\n", index(decide::scale::QueueHpa{})},
      {"  queue: {waitingPerReplica: 2}\n", index(decide::scale::QueueHpa{})},
      {"  rules: {waitingAbove: 9}\n", index(decide::scale::Rules{})},
      {"  engine: triton\n", index(decide::scale::QueueHpa{})},
      {"  engine: sglang\n", index(decide::scale::Capstan{})},
      {"  engine: triton\n  policy: Capstan\n", index(decide::scale::Capstan{})},
  };
  for (const Case& c : cases) {
    manifest::ErrorList errors;
    EXPECT_EQ(read(c.more, errors).policy.index(), c.policy) << c.more;
    EXPECT_TRUE(errors.ok()) << c.more;
  }
}

TEST(InferenceScalerManifest, TakesTimesFromSignalsAndBehavior) {
  manifest::ErrorList errors;
  const InferenceScalerManifest scaler =
      read("  policy: Queue\n  signals: {interval: 10s}\n  behavior: {coolDown: 7m}\n", errors);
  ASSERT_TRUE(errors.ok());
  const auto& queue = std::get<decide::scale::QueueHpa>(scaler.policy);
  EXPECT_EQ(queue.hpa.sync_period, 5s);
  EXPECT_EQ(queue.hpa.downscale_stabilization, 7min);
  EXPECT_TRUE(queue.hpa.blocks_scale_down_if_silent);
}

TEST(InferenceScalerManifest, ReportsMistakesWithTheirPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"  policy: Magic\n", "expected Capstan, Rules or Queue"},
      {"  rules: {kvAbove: 85}\n", "spec.rules.kvAbove"},
      {"  queu: {}\n", "queu"},
      {"  behavior: {coolDown: 5}\n", "isc.yaml:12:24: spec.behavior.coolDown"},
  };
  for (const auto& [more, message] : cases) {
    manifest::ErrorList errors;
    read(more, errors);
    ASSERT_FALSE(errors.ok()) << more;
    EXPECT_NE(errors.error->text().find(message), std::string::npos) << errors.error->text();
  }
}

}  // namespace
}  // namespace capstan::settings
