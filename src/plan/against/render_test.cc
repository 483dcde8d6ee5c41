#include "plan/against/render.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace capstan::plan {
namespace {

Plan plan_at(std::int64_t micro_usd_of_an_hour) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  ServicePlan service{.service = "chat", .holds_slo = true};
  service.seeds.push_back(
      {.attainment_ppm = 993'000, .micro_usd = micro_usd_of_an_hour, .simulated = std::chrono::hours(1)});
  plan.services.push_back(std::move(service));
  return plan;
}

Difference limit() {
  Difference change{.file = "pool.yaml",
                    .line = 7,
                    .object = "NodePool gpu",
                    .path = "spec.limits",
                    .planned = Yaml::map({{"nvidia.com/gpu", 64}}),
                    .why = "a bound on the bill"};
  change.saving.removed_risk = "an error that buys nodes";
  return change;
}

ExistingScaler scaler() {
  return {.service = "chat",
          .object = "ScaledObject chat",
          .file = "so.yaml",
          .kind = ScalerKind::scaled_object,
          .attainment_ppm = 910'000,
          .micro_usd_per_hour = 50'000'000};
}

TEST(AgainstText, GivesPlaceValueReasonAndRisk) {
  EXPECT_EQ(render_against_text(plan_at(0), {limit()}, {}), R"(1 change: 1 avoids a risk

 1  pool.yaml:7: NodePool gpu: spec.limits
    add
      nvidia.com/gpu: 64
    why      a bound on the bill
    avoids   an error that buys nodes
)");
}

TEST(AgainstText, WritesScalarsOnOneLineAndAbsentObjectsByTheirFile) {
  Difference changed = limit();
  changed.found = Yaml("1m");
  changed.planned = Yaml("1h");
  Difference absent{.kind = Difference::Kind::add, .file = "workload/chat.yaml", .object = "Service chat"};
  const std::string text = render_against_text(plan_at(0), {changed, absent}, {});
  EXPECT_NE(text.find("    change   1m -> 1h\n"), text.npos) << text;
  EXPECT_NE(text.find(" 2  missing: Service chat, as in workload/chat.yaml\n"), text.npos) << text;
}

TEST(AgainstText, GivesNotesCautionsAndDeletions) {
  Difference deleted{.kind = Difference::Kind::remove, .file = "hpa.yaml", .line = 1, .object = "HPA chat"};
  deleted.caution = "first look at it";
  EXPECT_EQ(render_against_text(plan_at(0), {deleted}, {}, {"the namespace is another"}),
            R"(note: the namespace is another

1 change: 1 matches the plan; 1 deletes one

 1  hpa.yaml:1: delete HPA chat
    caution  first look at it
)");
  const std::string markdown = render_against_markdown(plan_at(0), {deleted}, {}, {"the namespace is another"});
  EXPECT_NE(markdown.find("**Note**: the namespace is another.\n"), std::string::npos);
  EXPECT_NE(markdown.find("1. `hpa.yaml:1`: delete HPA chat\n   - caution: first look at it\n"), std::string::npos);
  const auto json = nlohmann::json::parse(render_against_json(plan_at(0), {deleted}, {}, {"the namespace is another"}));
  EXPECT_EQ(json["notes"][0], "the namespace is another");
  EXPECT_EQ(json["changes"][0]["caution"], "first look at it");
}

TEST(AgainstText, HasNoLongLine) {
  Difference query = limit();
  query.planned =
      Yaml::map({{"query", "sum(a{" + std::string(70, 'b') + "=\"c\"}) + sum(a{" + std::string(70, 'd') + "=\"c\"})"}});
  const std::string text = render_against_text(plan_at(0), {query}, {});
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    longest = std::max(longest, text.find('\n', at) - at);
  }
  EXPECT_LE(longest, 100u) << text;
}

TEST(AgainstText, StartsWithWhatTheExistingAutoscalerReaches) {
  EXPECT_EQ(render_against_text(plan_at(40'000'000), {}, {scaler()}),
            R"(chat: ScaledObject chat (so.yaml), simulated on the plan's load, machines and seeds
                              met, worst seed  USD/h  USD/month
  ScaledObject chat as it is   91.0 %, misses  50.00     36,500
  the plan, with Capstan               99.3 %  40.00     29,200
  the plan, with Capstan: 99.3 % of requests met instead of 91.0 %, for 7,300 USD/month less

no change
)");
}

TEST(AgainstText, SaysWhyAnAutoscalerWasNotSimulated) {
  ExistingScaler refused = scaler();
  refused.refusal_reason = "hpa.yaml:3: no";
  EXPECT_EQ(render_against_text(plan_at(0), {}, {refused}),
            "chat: ScaledObject chat (so.yaml) cannot be simulated: hpa.yaml:3: no\n\nno change\n");
}

TEST(AgainstMarkdown, HasATableAndAList) {
  const std::string text = render_against_markdown(plan_at(40'000'000), {limit()}, {scaler()});
  EXPECT_NE(text.find("| ScaledObject chat as it is | 91.0 %, misses | 50.00 | 36,500 |"), text.npos);
  EXPECT_NE(text.find("1. `pool.yaml:7`: NodePool gpu: `spec.limits`\n"), text.npos);
  EXPECT_NE(text.find("     ```yaml\n     nvidia.com/gpu: 64\n     ```\n"), text.npos) << text;
}

TEST(AgainstJson, HasValuesThatCanBeParsed) {
  const auto json = nlohmann::json::parse(render_against_json(plan_at(40'000'000), {limit()}, {scaler()}));
  EXPECT_EQ(json["existing_scalers"][0]["planned_usd_per_hour"], 40.0);
  EXPECT_EQ(json["changes"][0]["planned"]["nvidia.com/gpu"], 64);
  EXPECT_TRUE(json["changes"][0]["found"].is_null());
  EXPECT_EQ(json["changes"][0]["removes"], "an error that buys nodes");
}

}  // namespace
}  // namespace capstan::plan
