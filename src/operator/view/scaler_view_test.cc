#include "operator/view/scaler_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "settings/names.h"
#include "signals/metric_catalog.h"

namespace capstan::op {
namespace {

// A test in tests/operator/scaler_fields_test.cc checks that every field of the schema is read.

InferenceScaler read(std::string_view text) {
  kube::JsonDocument document;
  return read_inference_scaler(document.parse(text).value());
}

TEST(ScalerView, AnAbsentFieldHasTheDefaultOfTheSchema) {
  const InferenceScaler scaler = read(R"({"metadata": {"name": "chat"}, "spec": {"model": "m", "slo": {"ttft": "2s"},
    "roles": [{"variants": [{"targetRef": {"kind": "Deployment", "name": "chat"}, "maxReplicas": 3}]}]}})");
  EXPECT_EQ(scaler.slo.ttft, std::chrono::seconds(2));
  EXPECT_EQ(scaler.slo.attainment_ppm, 990'000u);
  ASSERT_EQ(scaler.roles.size(), 1u);
  EXPECT_EQ(scaler.roles[0].role, model::Role::both);
  EXPECT_EQ(scaler.roles[0].variants.at(0).target, (kube::TargetRef{"apps/v1", "Deployment", "chat"}));
  EXPECT_EQ(scaler.roles[0].variants[0].min_replicas, 1);
  EXPECT_FALSE(scaler.roles[0].variants[0].survives);
  EXPECT_EQ(scaler.interval, std::chrono::seconds(15));
  EXPECT_EQ(scaler.port, std::nullopt);
  EXPECT_EQ(scaler.path, "/metrics");
  EXPECT_EQ(scaler.policy, InferenceScaler::Policy::capstan);
  EXPECT_EQ(scaler.rules, decide::scale::Rules());
  EXPECT_EQ(scaler.fault, "");
  EXPECT_EQ(scaler.waiting_per_replica, 4);
  EXPECT_EQ(scaler.running_per_replica, std::nullopt);
  EXPECT_EQ(scaler.cool_down, std::chrono::minutes(5));
  EXPECT_EQ(scaler.mode, Mode::shadow);
}

/// The pattern of the schema admits any number of digits. Only a server without our schema admits the last four rows.
TEST(ScalerView, ALimitInUsdPerHourIsNeverLooserThanStated) {
  const struct {
    const char* limit;
    std::optional<std::int64_t> micro_usd;
  } rows[] = {{R"({"usdPerHour": "250"})", 250'000'000},
              {R"({"usdPerHour": "0.000001"})", 1},
              {R"({"usdPerHour": "0"})", 0},
              {R"({"usdPerHour": "1000001"})", 1'000'000'000'000},
              {R"({"usdPerHour": "99999999999999999999"})", 1'000'000'000'000},
              {R"({"usdPerHour": "99999999999999999999.5"})", 1'000'000'000'000},
              {R"({})", std::nullopt},
              {R"({"usdPerHour": "-5"})", 0},
              {R"({"usdPerHour": "much"})", 0},
              {R"({"usdPerHour": ""})", 0},
              {R"({"usdPerHour": ".5.5"})", 0}};
  for (const auto& [limit, micro_usd] : rows) {
    kube::JsonDocument document;
    const std::string text = R"({"metadata": {"name": "default"}, "spec": {"limits": )" + std::string(limit) + "}}";
    const FleetPolicy policy = read_fleet_policy(document.parse(text).value());
    ASSERT_EQ(policy.limits.price_per_hour.has_value(), micro_usd.has_value()) << limit;
    if (!micro_usd) continue;
    EXPECT_EQ(policy.limits.price_per_hour->count, *micro_usd) << limit;
  }
}

TEST(ScalerView, SurviveNamesALevelOfDomains) {
  for (const auto& [word, level] :
       {std::pair("Node", model::TopologyLevel::node), std::pair("Rack", model::TopologyLevel::rack),
        std::pair("Zone", model::TopologyLevel::zone)}) {
    const InferenceScaler scaler = read(std::string(R"({"spec": {"roles": [{"variants": [{"survive": ")") + word +
                                        R"(", "targetRef": {"kind": "Deployment", "name": "chat"}}]}]}})");
    EXPECT_EQ(scaler.roles.at(0).variants.at(0).survives, level) << word;
  }
}

TEST(ScalerView, AnInvalidFieldReadsAsTheDefault) {
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

TEST(ScalerView, EnginesWithoutTokenCountersMatchTheMetricsTable) {
  const signals::MetricCatalog& catalog = signals::MetricCatalog::bundled();
  const auto& no_counts = settings::kEnginesWithoutTokenCounts;
  for (const std::string_view engine : {"vllm", "sglang", "tensorrt-llm", "triton", "tgi", "nim"}) {
    const std::uint16_t id = catalog.engine(engine).value();
    const bool counts = std::ranges::any_of(catalog.rows(), [&](const signals::MetricRow& row) {
      return row.engine == id && row.signal == signals::SignalName::generated_tokens_total;
    });
    EXPECT_EQ(std::ranges::find(no_counts, engine) == std::end(no_counts), counts) << engine;
  }
}

TEST(ScalerView, ThePolicyIsStatedOrFollowsFromItsSettings) {
  const struct {
    const char* spec;
    const char* policy;
    const char* fault;
  } rows[] = {
      {R"("model": "m")", "Capstan", ""},
      {R"("queue": {})", "Queue", ""},
      {R"("rules": {})", "Rules", ""},
      {R"("policy": "Rules")", "Rules", ""},
      {R"("engine": "vllm")", "Capstan", ""},
      {R"("engine": "tgi")", "Queue", ""},
      {R"("engine": "custom", "policy": "Capstan")", "Capstan", ""},
      {R"("policy": "Queue")", "Queue", ""},
      {R"("policy": "Capstan")", "Capstan", ""},
      {R"("roles": [{"role": "prefill"}, {"role": "decode"}])", "Capstan", ""},
      {R"("roles": [{"role": "prefill"}, {"role": "decode"}], "rules": {})", "Rules", ""},
      // A server without the rules of our schema accepts these.
      {R"("rules": {"waitingAbove": 3, "waitingBelow": 3})", "Queue",
       "spec.rules.waitingBelow: found 3, expected less than waitingAbove, 3"},
      {R"("rules": {"kvBelow": "90%"})", "Queue", "spec.rules.kvBelow: found 90 %, expected less than kvAbove, 85 %"},
      {R"("rules": {"scaleOn": "Goodput"}, "slo": {"e2e": "10s"})", "Queue",
       "spec.rules.scaleOn: found a latency without a bound in spec.slo, expected ttft or tpot in spec.slo"},
      {R"("roles": [{"variants": [{"targetRef": {"name": "a"}, "windows": [{"start": "8 * *", "duration": "1h"}]}]}])",
       "Queue",
       "windows of a: start: schedule \"8 * *\" has 3 fields, expected minute, hour, day of the month, month and day "
       "of the week, such as \"0 8 * * 1-5\", or a word such as @daily"},
      {R"("roles": [{"variants": [{"targetRef": {"name": "a"},
          "windows": [{"start": "@daily", "duration": "900h"}]}]}])",
       "Queue", "windows of a: duration: found \"900h\", expected more than 0 and 744h at most"},
  };
  for (const auto& row : rows) {
    const InferenceScaler scaler = read(std::string(R"({"metadata": {"name": "chat"}, "spec": {)") + row.spec + "}}");
    EXPECT_EQ(name_of(scaler.policy), row.policy) << row.spec;
    EXPECT_EQ(scaler.fault, row.fault) << row.spec;
    EXPECT_TRUE(scaler.fault.empty() || scaler.rules == decide::scale::Rules()) << row.spec;
  }
}

}  // namespace
}  // namespace capstan::op
