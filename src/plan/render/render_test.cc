#include "plan/render/render.h"

#include <gtest/gtest.h>

#include "plan/render/files.h"
#include "plan/render/page.h"
#include "plan/result/figures.h"

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

/// Returns a plan of one service with one section that uses every field.
Plan small_plan() {
  Plan plan;
  plan.spec.name = "chat-platform";
  plan.spec.services.push_back({.name = "chat"});
  plan.spec.services.back().slo.ttft = 2s;
  plan.spec.cluster.region = "us-east-1";
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
  Section nodes{.key = "nodes",
                .title = "Nodes",
                .answer = "One pool of p5.48xlarge. Empty nodes go.",
                .page_answer = "One pool of p5.48xlarge."};
  nodes.statements.push_back({.name = "price of p5.48xlarge",
                              .value = "55.04 USD/h",
                              .why = "8 H100 | one NVLink domain",
                              .evidence = Evidence::catalogue,
                              .visibility = Visibility::page});
  nodes.statements.push_back({"expiry", "never", "expiry ignores budgets", Evidence::assumed});
  nodes.not_simulated.push_back("the training tenant");
  nodes.apply.push_back({.step = ApplyStep::nodes, .command = "kubectl apply -f nodes", .purpose = "the node pools"});
  nodes.apply.push_back(
      {.step = ApplyStep::names, .command = "kubectl create namespace chat", .purpose = "the namespace"});
  nodes.apply.push_back({.step = ApplyStep::queues,
                         .command = "kubectl apply -f gangs/kueue",
                         .alternative = {.choice = "queues", .option = "kueue"}});
  nodes.manifests.push_back({.file = "nodes/h100.yaml", .body = Yaml::map({{"kind", "NodePool"}}), .is_on_page = true});
  nodes.manifests.push_back({.file = "nodes/h100.yaml", .body = Yaml::map({{"kind", "EC2NodeClass"}})});
  plan.sections.push_back(std::move(nodes));
  plan.simulations = 1234;
  return plan;
}

ScalerVariant variant(ScalerKind kind, std::int64_t attainment_ppm, std::int64_t micro_usd) {
  ScalerVariant out{.kind = kind, .roles = {{.minimum = 2, .maximum = 8}}, .holds_slo = attainment_ppm >= 990'000};
  out.seeds = {trial(1, attainment_ppm)};
  out.seeds.front().micro_usd = micro_usd;
  return out;
}

TEST(Render, WritesOnePageOfText) {
  EXPECT_EQ(render_text(small_plan()), R"(Plan chat-platform
chat          2 to 8 replicas of Llama-3.3-70B in fp8 on 4 H100 each, on p5.48xlarge, scaled by
              Capstan
cost          40.00 USD/h, 29,200 USD/month, mean of 2 seeds (simulated)
SLO           99.0 % of requests: TTFT at most 2 s; holds in 2 of 2 simulations, the worst: 99.1 %,
              P99 of TTFT 1.50 s, of TPOT 40.0 ms (simulated)

nodes         One pool of p5.48xlarge.
              from the catalogue: price of p5.48xlarge = 55.04 USD/h
not simulated the training tenant
defaults      services.chat: slo.attainment = 99 %
files         --out DIR writes 5 files: nodes/ scenario-chat.yaml kill-switch.sh apply.sh plan.md;
              in DIR, sh apply.sh applies them: 2 commands in the order in which they work
kill switch   If TtftP99AboveSlo fires after a change of an autoscaler, run sh kill-switch.sh. It
              removes no replica, raises the replicas to the peak of the simulations, and restores
              the metrics on which the autoscalers scale, as saved last.

1,234 simulations; --details shows the arithmetic, the reasons, the commands and the main manifests
)");
}

TEST(Render, MovesArithmeticReasonsAndManifestsToTheDetails) {
  const std::string page = render_text(small_plan()), all = render_text(small_plan(), PageDetail::all);
  for (const char* text : {"expiry ignores budgets", "kind: NodePool", "the usual target of a chat service"}) {
    EXPECT_EQ(page.find(text), page.npos) << text;
    EXPECT_NE(all.find(text), all.npos) << text;
  }
  EXPECT_NE(all.find("$ kubectl apply -f gangs/kueue"), all.npos);
  EXPECT_NE(all.find(" 1 kubectl create namespace chat  # the namespace\n 2 kubectl apply -f nodes"), all.npos);
}

TEST(Render, AShareThatMissesTheSloNeverReadsLikeTheSlo) {
  Plan plan = small_plan();
  plan.spec.services.front().slo.attainment_ppm = 990'000;
  plan.services.front().variants = {variant(ScalerKind::capstan, 991'000, 20'000'000),
                                    variant(ScalerKind::hpa, 989'740, 19'000'000)};
  plan.services.front().variants.back().holds_slo = false;
  const std::string page = render_text(plan);
  EXPECT_NE(page.find("HPA      98.97 %, misses"), page.npos) << page;
}

TEST(Render, ComparesTheScalersAndMarksTheChosenOne) {
  Plan plan = small_plan();
  plan.services.front().variants = {variant(ScalerKind::capstan, 991'000, 20'000'000),
                                    variant(ScalerKind::hpa, 900'000, 19'000'000)};
  const std::string page = render_text(plan);
  EXPECT_NE(page.find("  scaler   met, worst seed  USD/h  USD/month  replicas\n"
                      "▶ Capstan           99.1 %  40.00     29,200    2 to 8\n"
                      "  HPA       90.0 %, misses  38.00     27,740    2 to 8\n"),
            page.npos)
      << page;
}

TEST(Render, SaysWhichOfEquallyCheapScalersThePlanTakes) {
  Plan plan = small_plan();
  plan.services.front().variants = {variant(ScalerKind::capstan, 995'000, 20'000'000),
                                    variant(ScalerKind::hpa, 999'000, 20'000'000)};
  const auto has_choice = [&] {
    return render_text(plan).contains("  At equal cost the plan prefers a constant fleet,");
  };
  EXPECT_TRUE(has_choice());
  EXPECT_FALSE(render_markdown(plan, PageDetail::page).contains(".."));
  plan.services.front().variants[1] = variant(ScalerKind::hpa, 999'000, 21'000'000);
  EXPECT_FALSE(has_choice());
}

TEST(Render, EndsWithTheKillSwitch) {
  const Plan plan = small_plan();
  EXPECT_TRUE(render_markdown(plan, PageDetail::page).ends_with("the autoscalers scale, as saved last.\n"));
  Plan missed = small_plan();
  missed.services.front().holds_slo = false;
  EXPECT_FALSE(render_text(missed).contains("kill switch")) << "such a plan has no kill-switch.sh";
}

TEST(Render, NeverFoldsTheCommentOfACommand) {
  Plan plan = small_plan();
  plan.sections[0].apply = {
      {.command = std::string(90, 'a') + " b", .purpose = "a purpose for which there is no room", .is_optional = true}};
  EXPECT_NE(render_text(plan, PageDetail::all).find(std::string(90, 'a') + " b\n      # optional\n"),
            std::string::npos);
}

TEST(Render, CountsTheOptionalSteps) {
  Plan plan = small_plan();
  plan.sections[0].apply.push_back({.command = "a", .purpose = "balloon pods", .is_optional = true});
  EXPECT_NE(render_text(plan).find("applies them: 2 commands in the order in which they work, and 1\n"
                                   "              optional one as comments"),
            std::string::npos)
      << render_text(plan);
}

TEST(Render, NamesTheComponentsThatTheClusterNeeds) {
  Plan plan = small_plan();
  plan.sections[0].manifests[0].body = Yaml::map({{"apiVersion", "karpenter.sh/v1"}, {"kind", "NodePool"}});
  EXPECT_NE(render_text(plan).find("\nneeds         Karpenter in the cluster; apply.sh names the missing ones"),
            std::string::npos);
  EXPECT_NE(render_markdown(plan).find("The cluster needs Karpenter. `apply.sh` names"), std::string::npos);
  EXPECT_NE(render_json(plan).find("\"part\": \"nodepools.karpenter.sh\""), std::string::npos);
}

TEST(Render, StaysWithinAHundredColumnsAndSixtyLines) {
  const std::string page = render_text(small_plan());
  std::size_t lines = 0;
  for (std::size_t at = 0; at < page.size(); ++lines) {
    const std::size_t end = page.find('\n', at);
    EXPECT_LE(end - at, 100u) << page.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_LE(lines, 60u);
}

TEST(Render, EscapesTheBarsOfAMarkdownTable) {
  const std::string page = render_markdown(small_plan(), PageDetail::all);
  EXPECT_NE(page.find("| price of p5.48xlarge | 55.04 USD/h | from the catalogue | 8 H100 \\| one NVLink domain |"),
            page.npos);
  EXPECT_NE(page.find("```yaml\nkind: NodePool\n```"), page.npos);
  EXPECT_NE(page.find("| [nodes/h100.yaml](nodes/h100.yaml) | NodePool, EC2NodeClass |"), page.npos);
}

TEST(Render, FoldsTheDetailsOfMarkdownAway) {
  EXPECT_EQ(render_markdown(small_plan()).find("<details>"), std::string::npos);
  EXPECT_NE(render_markdown(small_plan(), PageDetail::all).find("<details>"), std::string::npos);
}

TEST(Render, GivesJsonItsVersionFirstAndUnitsLast) {
  const std::string json = render_json(small_plan());
  EXPECT_TRUE(json.starts_with("{\n  \"format_version\": 1,"));
  EXPECT_NE(json.find("\"usd_per_hour\": 40.0"), json.npos);
  EXPECT_NE(json.find("\"ttft_p99_s\": 1.5"), json.npos);
  EXPECT_NE(json.find("\"kind\": \"EC2NodeClass\""), json.npos) << "the bodies of the manifests";
}

TEST(Render, GivesJsonTheMinimumForTheLossOfAZone) {
  Plan plan = small_plan();
  plan.services[0].lost_zone = "a";
  plan.services[0].zone_loss = {.roles = {{.minimum = 4, .maximum = 7}}, .micro_usd_per_hour = 110'080'000};
  const std::string json = render_json(plan);
  for (const char* text : {"\"zone\": \"a\"", "\"min_replicas\": 4", "\"usd_per_hour\": 110.08"}) {
    EXPECT_NE(json.find(text), json.npos) << text;
  }
}

TEST(Render, SaysHowManySimulationsMissedTheSloAndWritesNoFiles) {
  Plan plan = small_plan();
  plan.services.front().holds_slo = false;
  plan.services.front().seeds.back().attainment_ppm = 900'000;
  const std::string page = render_text(plan);
  EXPECT_NE(page.find("misses in 1 of 2 simulations"), page.npos);
  EXPECT_EQ(page.find("files"), page.npos);
}

TEST(Render, GivesTheRangeOfTheCostAndTheWorseDays) {
  Plan plan = small_plan();
  plan.services.front().seeds.back().micro_usd = 30'000'000;
  plan.services.front().robustness = {trial(1, 937'000), trial(1, 995'000)};
  plan.services.front().robustness[0].name = "zone a lost";
  plan.services.front().robustness[1].name = "1.5 times the load";
  const std::string page = render_text(plan);
  EXPECT_NE(page.find("50.00 USD/h (40.00 to 60.00), 36,500 USD/month, mean and range of 2 seeds"), page.npos) << page;
  EXPECT_NE(page.find("stress tests  under Capstan: misses the SLO: zone a lost (93.7 %); holds the SLO: 1.5 times"),
            page.npos)
      << page;
}

TEST(Render, AddsUpSeveralServices) {
  Plan plan = small_plan();
  plan.spec.services.push_back({.name = "code"});
  plan.services.push_back(plan.services.front());
  EXPECT_NE(render_text(plan).find("together      80.00 USD/h, 58,400 USD/month, the sum of the services\n"),
            std::string::npos);
  plan.services.back().shared_micro_usd_per_hour = 10'000'000;
  EXPECT_NE(render_text(plan).find("together      50.00 USD/h, 36,500 USD/month, with shared nodes (modelled)\n"),
            std::string::npos);
}

/// Returns a plan of the services `chat` and `code`. In the simulation of both on one cluster, `code` has this
/// attainment.
Plan plan_of_two(std::int64_t code_ppm) {
  Plan plan = small_plan();
  plan.spec.services.push_back({.name = "code"});
  plan.services.push_back(plan.services.front());
  plan.services.back().service = "code";
  TogetherTrials trials{.seeds = 5, .micro_usd_per_hour = 70'000'000};
  trials.services = {{.service = "chat", .attainment_ppm = {995'000, 993'000}},
                     {.service = "code", .attainment_ppm = {code_ppm}, .holds_slo = code_ppm >= 990'000}};
  plan.together = TogetherProof{.trials = trials, .scenario = "name: both\n"};
  return plan;
}

TEST(Render, SaysThatTheServicesHoldTheirSloOnOneCluster) {
  const Plan plan = plan_of_two(992'000);
  EXPECT_NE(render_text(plan).find("together      70.00 USD/h, 51,100 USD/month on one cluster, mean of 5 simulations; "
                                   "every SLO holds:\n              chat 99.3 %, code 99.2 %\n"),
            std::string::npos)
      << render_text(plan);
  EXPECT_EQ(plan_files(plan).at("together.yaml"), "name: both\n");
  const std::string json = render_json(plan);
  EXPECT_NE(json.find("\"together\": {\n    \"holds_slo\": true,"), json.npos) << json;
}

TEST(Render, SaysWhatTheJobsGot) {
  Plan plan = plan_of_two(992'000);
  plan.together->trials.jobs_micro_usd_per_hour = 12'000'000;
  plan.together->trials.jobs = {{.tenant = "lab",
                                 .name = "tune",
                                 .arrived = 20,
                                 .ended = 12,
                                 .computing = 5,
                                 .waiting = 3,
                                 .wait_p50 = std::chrono::seconds(70),
                                 .wait_p99 = std::chrono::seconds(129),
                                 .restarts = 8,
                                 .preempted = 7,
                                 .resized = 2,
                                 .gpu_ns = GpuNanoseconds{90} * 3'600'000'000'000,
                                 .lost_gpu_ns = GpuNanoseconds{6} * 3'600'000'000'000,
                                 .micro_usd = 620'000'000}};
  const Page page = page_of(plan);
  EXPECT_NE(page.sum.find("mean of 5 simulations, 12.00 USD/h of it for the jobs; every SLO holds"), std::string::npos)
      << page.sum;
  ASSERT_EQ(page.jobs.size(), 1u);
  EXPECT_EQ(page.jobs[0],
            "tune of lab: 4.0 jobs arrived, 2.4 ended, 1.0 still ran at the end, 0.6 had not begun; waited 1 min 10 s "
            "(median) and 2 min 9 s (P99) in the worst simulation; 18.0 GPU-hours for 124.00 USD; preempted 1.4 times, "
            "changed width 0.4 times, restarted 0.2 times for another reason, lost 1.2 GPU-hours of work; mean of 5 "
            "simulations (simulated)");
  EXPECT_NE(jobs_words({.arrived = 4, .waiting = 4}, 2).find("; no job got GPUs, a higher gpu_quota"),
            std::string::npos);
  EXPECT_NE(render_text(plan).find("\njobs          tune of lab: 4.0 jobs arrived"), std::string::npos);
  EXPECT_NE(render_markdown(plan, PageDetail::page).find("- jobs of tune of lab: 4.0 jobs"), std::string::npos);
  const std::string json = render_json(plan);
  EXPECT_NE(json.find("\"preempted\": 1.4"), json.npos) << json;
  EXPECT_NE(json.find("\"lost_gpu_hours\": 1.2"), json.npos) << json;
}

TEST(Render, SaysWhatWouldHoldAnSloThatIsMissedOnOneCluster) {
  Plan plan = plan_of_two(900'000);
  EXPECT_FALSE(holds_slo(plan));
  EXPECT_NE(render_text(plan).find("misses the SLO:\n              code 90.0 %; no service has room for"),
            std::string::npos)
      << render_text(plan);
  EXPECT_EQ(render_text(plan).find("files "), std::string::npos) << "such a plan has no manifests";
  TogetherRemedy remedy{.minima = {{}, {{.minimum = 4, .maximum = 8}}}, .trials = plan.together->trials};
  remedy.trials.micro_usd_per_hour = 90'000'000;
  remedy.trials.services[1].holds_slo = true;
  plan.together->remedy = remedy;
  EXPECT_EQ(together_advice(plan), "higher minima hold it for 90.00 USD/h: --set services.1.min_replicas=4");
  plan.together->remedy->trials.services[1].holds_slo = false;
  EXPECT_EQ(together_advice(plan),
            "the highest minima that were tried miss it, too (code 90.0 %): --set services.1.min_replicas=4");
  EXPECT_NE(render_json(plan).find("\"min_replicas\": 4"), std::string::npos);
}

TEST(PlanFiles, JoinObjectsOfOneFileAsDocuments) {
  const auto files = plan_files(small_plan());
  EXPECT_EQ(files.at("nodes/h100.yaml"), "kind: NodePool\n---\nkind: EC2NodeClass\n");
  EXPECT_EQ(files.at("scenario-chat.yaml"), "name: chat\n");
  EXPECT_TRUE(files.at("apply.sh").starts_with("#!/bin/sh\n"));
  EXPECT_EQ(files.at("plan.md"), render_markdown(small_plan(), PageDetail::all));
}

TEST(PlanFigures, AreMeansAndExtremesOverTheSeeds) {
  const Plan plan = small_plan();
  const ServicePlan& service = plan.services.front();
  EXPECT_EQ(micro_usd_per_hour(service), 40'000'000);
  EXPECT_EQ(lowest_attainment_ppm(service), 991'000);
}

}  // namespace
}  // namespace capstan::plan
