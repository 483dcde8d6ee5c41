#include "plan/render/render.h"

#include <gtest/gtest.h>

#include "plan/figures.h"
#include "plan/files.h"
#include "plan/render/summary.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

Trial trial(std::uint64_t seed, std::int64_t attainment_ppm) {
  return {.name = "seed " + std::to_string(seed),
          .seed = seed,
          .attainment_ppm = attainment_ppm,
          .requests = 1000,
          .ttft_p99 = 1500ms,
          .tpot_p99 = 40ms,
          .micro_usd = 20'000'000,
          .simulated = 30min};
}

/// A plan of one service with one section that uses every field.
Plan small_plan() {
  Plan plan;
  plan.spec.name = "chat-platform";
  plan.spec.services.push_back({.name = "chat"});
  plan.spec.defaults.push_back({"services.chat.slo.attainment", "99 %", "the usual target of a chat service"});
  ServicePlan service{.service = "chat", .holds_slo = true};
  RoleFleet role{.minimum = 2, .maximum = 8};
  role.engine.model = "Llama-3.3-70B";
  role.engine.gpu = "h100_sxm";
  role.engine.gpu_name = "H100";
  role.engine.tp = 4;
  role.engine.weight_dtype = "fp8";
  role.machine.name = "p5.48xlarge";
  service.roles.push_back(role);
  service.seeds = {trial(1, 995'000), trial(2, 991'000)};
  service.scenario = "name: chat\n";
  plan.services.push_back(service);
  Section nodes{.key = "nodes", .title = "Nodes", .answer = "One pool of p5.48xlarge."};
  nodes.statements.push_back({"instance type", "p5.48xlarge", "8 H100 | one NVLink domain", Evidence::catalogue});
  nodes.not_simulated.push_back("the training tenant");
  nodes.commands.push_back("kubectl apply -f nodes");
  nodes.manifests.push_back({.file = "nodes/h100.yaml", .body = Yaml::map({{"kind", "NodePool"}}), .is_on_page = true});
  nodes.manifests.push_back({.file = "nodes/h100.yaml", .body = Yaml::map({{"kind", "EC2NodeClass"}})});
  plan.sections.push_back(std::move(nodes));
  plan.simulations = 1234;
  return plan;
}

TEST(Render, WritesAPageOfText) {
  EXPECT_EQ(render_text(small_plan()), R"(Plan chat-platform
chat: 2 to 8 replicas of Llama-3.3-70B in fp8 on 4 H100 each for 40.00 USD/h, 29,200.00 USD/month;
  holds the SLO in 2 of 2 simulations (at least 99.1 % of requests met, 99.0 % asked)

Nodes
  One pool of p5.48xlarge.
  instance type  p5.48xlarge (from the catalogue): 8 H100 | one NVLink domain
  not simulated: the training tenant
    # nodes/h100.yaml
    kind: NodePool
  $ kubectl apply -f nodes

Assumed, because the spec does not say it
  services.chat.slo.attainment = 99 %: the usual target of a chat service

1,234 simulations
)");
}

TEST(Render, EscapesTheBarsOfAMarkdownTable) {
  const std::string page = render_markdown(small_plan());
  EXPECT_NE(page.find("| instance type | p5.48xlarge | from the catalogue | 8 H100 \\| one NVLink domain |"),
            page.npos);
  EXPECT_NE(page.find("```yaml\nkind: NodePool\n```"), page.npos);
}

TEST(Render, GivesJsonItsVersionFirstAndUnitsLast) {
  const std::string json = render_json(small_plan());
  EXPECT_TRUE(json.starts_with("{\n  \"format_version\": 1,"));
  EXPECT_NE(json.find("\"usd_per_hour\": 40.0"), json.npos);
  EXPECT_NE(json.find("\"ttft_p99_s\": 1.5"), json.npos);
}

TEST(Render, SaysHowManySimulationsMissedTheSlo) {
  Plan plan = small_plan();
  plan.services.front().holds_slo = false;
  plan.services.front().seeds.back().attainment_ppm = 900'000;
  EXPECT_NE(render_text(plan).find("misses the SLO in 1 of 2 simulations"), std::string::npos);
}

TEST(PlanSummary, AddsUpSeveralServices) {
  Plan plan = small_plan();
  plan.spec.services.push_back({.name = "code"});
  plan.services.push_back(plan.services.front());
  ASSERT_EQ(summary_lines(plan).size(), 3u);
  EXPECT_EQ(summary_lines(plan).back(),
            "all services: 80.00 USD/h, 58,400.00 USD/month, each on nodes of its own; shared nodes would cost less");
}

TEST(PlanFiles, JoinObjectsOfOneFileAsDocuments) {
  const auto files = plan_files(small_plan());
  EXPECT_EQ(files.at("nodes/h100.yaml"), "kind: NodePool\n---\nkind: EC2NodeClass\n");
  EXPECT_EQ(files.at("scenario-chat.yaml"), "name: chat\n");
  EXPECT_EQ(files.at("plan.md"), render_markdown(small_plan()));
}

TEST(PlanFigures, AreMeansAndExtremesOverTheSeeds) {
  const Plan plan = small_plan();
  const ServicePlan& service = plan.services.front();
  EXPECT_EQ(micro_usd_per_hour(service), 40'000'000);
  EXPECT_EQ(lowest_attainment_ppm(service), 991'000);
  EXPECT_EQ(longest_ttft_p99(service), 1500ms);
  EXPECT_EQ(gpus_at_maximum(service), 32);
}

}  // namespace
}  // namespace capstan::plan
