#include "plan/spec/read_spec.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSmallest = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s}
)";

const DefaultUsed* find_default(const PlanSpec& spec, std::string_view path) {
  const auto found = std::ranges::find(spec.defaults, path, &DefaultUsed::path);
  return found == spec.defaults.end() ? nullptr : &*found;
}

TEST(ReadSpec, NeedsOnlyAModelAndAnSlo) {
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->name, "chat");
  EXPECT_EQ(spec->services.front().model, "Llama-3.3-70B");
  EXPECT_EQ(spec->services.front().slo.ttft, 2s);
  EXPECT_EQ(spec->services.front().tenant, "production");
  EXPECT_EQ(spec->cluster.zones.size(), 3u);
  EXPECT_GT(spec->cluster.machines.size(), 3u);
}

TEST(ReadSpec, ListsEveryDefaultThatItUses) {
  const SpecResult spec = parse_plan_spec(kSmallest, "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  for (const std::string_view path :
       {"name", "namespace", "cluster.cloud", "cluster.zones", "cluster.instances", "tenants", "limits", "staff",
        "services.chat.engine", "services.chat.slo.attainment", "services.chat.load.requests_per_second",
        "services.chat.load.prompt_tokens"}) {
    EXPECT_NE(find_default(*spec, path), nullptr) << path;
  }
  EXPECT_EQ(find_default(*spec, "services.chat.dtype"), nullptr);
}

TEST(ReadSpec, TurnsConcurrencyIntoARate) {
  const SpecResult spec = parse_plan_spec(
      std::string(kSmallest) + "  load: {concurrency: 100, prompt_tokens: 1000, answer_tokens: 301}\n", "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_NEAR(spec->services.front().load.requests_per_s, 10, 1e-9);  // 1 s + 300 x 30 ms
}

TEST(ReadSpec, AcceptsMachinesByNameAndByShape) {
  const SpecResult spec = parse_plan_spec(std::string(kSmallest) + R"(cluster:
  zones: [a]
  instances:
  - p5.48xlarge
  - {instance: own-box, gpu: H100, gpus: 4, usd_per_hour: 10, existing: 2}
)",
                                          "chat.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  ASSERT_EQ(spec->cluster.machines.size(), 2u);
  EXPECT_EQ(spec->cluster.machines[0].gpus, 8);
  EXPECT_FALSE(spec->cluster.machines[0].has_stated_price);
  EXPECT_EQ(spec->cluster.machines[1].existing, 2);
  EXPECT_TRUE(spec->cluster.machines[1].has_stated_price);
}

TEST(ReadSpec, ReportsMistakesWithPlaceFoundAndExpected) {
  struct Case {
    std::string text;
    std::string message;
    ErrorKind kind = ErrorKind::input;
  };
  const Case cases[] = {
      {"services: []\n", "expected at least one element"},
      {"services:\n- {name: a, slo: {ttft_p99: 1s}}\n", "s.yaml:2:3: services.a"},
      {"services:\n- {name: a, model: Llama-3.1-9B, slo: {ttft_p99: 1s}}\n", "did you mean Llama-3.1-8B?",
       ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {}}\n", "states no bound"},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 0s}}\n", "can never be met", ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, tenant: x}\n", "no tenant is named \"x\""},
      {"tenants: []\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "expected at least one element"},
      {"limits: {gpus: 8}\ntenants: [{name: t, gpu_quota: 16}]\nservices:\n- {name: a, model: Llama-3.1-8B, slo: "
       "{ttft_p99: 1s}}\n",
       "8 more than limits.gpus of 8", ErrorKind::infeasible},
      {"cluster: {instances: [p5.49xlarge]}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "did you mean p5.4xlarge?"},
      {"cluster: {cloud: on_premises}\nservices:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}}\n",
       "has no machine of on_premises", ErrorKind::infeasible},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {concurrency: 1, requests_per_second: "
       "1}}\n",
       "expected one of them"},
      {"services:\n- {name: a, model: Llama-3.1-8B, slo: {ttft_p99: 1s}, load: {trace: nowhere.csv}}\n", "nowhere.csv"},
      {"servces: []\n", "servces"},
  };
  for (const Case& c : cases) {
    const SpecResult spec = parse_plan_spec(c.text, "s.yaml");
    ASSERT_FALSE(spec) << c.text;
    EXPECT_NE(spec.error().text().find(c.message), std::string::npos) << c.text << spec.error().text();
    EXPECT_EQ(spec.error().kind, c.kind) << spec.error().text();
  }
}

TEST(ReadSpec, ReportsAllMistakesAtOnce) {
  const SpecResult spec =
      parse_plan_spec("cluster: {cloud: aws2}\nservices:\n- {name: a, model: X, slo: {}}\nfoo: 1\n", "s.yaml");
  ASSERT_FALSE(spec);
  EXPECT_GE(spec.error().list.size(), 4u) << spec.error().text();
}

}  // namespace
}  // namespace capstan::plan
