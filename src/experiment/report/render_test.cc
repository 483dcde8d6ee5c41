#include "experiment/report/render.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "experiment/report/details.h"
#include "experiment/report/verdict.h"
#include "experiment/run/job_waits.h"
#include "experiment/run/ranking.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

RunResult result(const char* policy, RequestCount met, std::int64_t busy_hours, std::int64_t idle_hours) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  RunResult r;
  r.policy = policy;
  r.seed = 1;
  r.simulated = std::chrono::seconds(3502);
  r.requests = {.arrived = 1000, .completed = 1000 - (met < 900 ? 12 : 0), .met = met, .timed_out = met < 900 ? 12 : 0};
  r.ttft = {200'000, 900'000, 1'400'000, met < 900 ? 48'200'000 : 1'620'000, 350'000};
  r.tpot = {31'000, 42'000, 48'000, 61'250, 33'000};
  r.e2e = {5'000'000, 9'000'000, 12'000'000, 60'000'000, 6'000'000};
  r.gpu_ns[static_cast<std::size_t>(GpuState::busy)] = busy_hours * kHour;
  r.gpu_ns[static_cast<std::size_t>(GpuState::idle)] = idle_hours * kHour;
  r.cost_micro_usd[static_cast<std::size_t>(GpuState::busy)] = busy_hours * 2'000'000;
  r.cost_micro_usd[static_cast<std::size_t>(GpuState::idle)] = idle_hours * 2'000'000;
  r.useful_gpu_ns = 5 * kHour;
  r.cold_start_p50 = std::chrono::seconds(130);
  r.spending = {{.pool = "a100",
                 .zone = "us-east-1a",
                 .instance_type = "p4de.24xlarge",
                 .capacity = model::CapacityType::on_demand,
                 .gpu_ns = r.paid_gpu_ns(),
                 .micro_usd = r.total_micro_usd()}};
  return r;
}

Comparison two() {
  Comparison c{
      .scenario = "azure-hour",
      .title = "Azure LLM 2023, conversation",
      .seed = 1,
      .load = "profile azure-hour",
      .service = "Llama-3.3-70B TP4 on A100, gangs of 4 pods in one node",
      .slo = {.ttft = std::chrono::seconds(2), .tpot = std::chrono::milliseconds(80), .e2e = {}},
      .results = {result("duty cycle · first-fit · CA", 610, 12, 18), result("queue · gang · group", 993, 14, 6)}};
  c.results[0].invariants.partial_gang = 3;
  c.results[0].moments = {{Instant{std::chrono::seconds(1040)}, 90, "140 requests wait, +1 replica was wanted", ""}};
  rank(c.results, c.slo);
  return c;
}

Comparison foreseen() {
  Comparison c = two();
  constexpr std::int64_t kHour = 3'600'000'000'000;
  Clairvoyant clairvoyant;
  clairvoyant.bound = {
      .gpu_ns = 13 * kHour, .micro_usd = 26'000'000, .work_gpu_ns = 12 * kHour, .unattainable_requests = 2};
  clairvoyant.achievable = {.raised_ppm = 90'000, .holds = true, .runs = 6, .result = result("foresight", 991, 13, 3)};
  c.clairvoyant = clairvoyant;
  return c;
}

Comparison advised() {
  Comparison c = foreseen();
  c.constant_fleet.emplace();
  c.constant_fleet->replicas = {4};
  c.constant_fleet->words = "4 replicas";
  c.constant_fleet->holds_slo = true;
  c.constant_fleet->result = result("constant fleet of 4 replicas (hindsight)", 992, 14, 3);
  c.raised_minimum.emplace();
  c.raised_minimum->policy = "queue · gang · group";
  c.raised_minimum->setting = "replicas.min: 3";
  c.raised_minimum->result = result("queue · gang · group", 994, 14, 5);
  return c;
}

TEST(RenderText, AWaitOfJobsFollowsInAddition) {
  Comparison c = two();
  for (RunResult& r : c.results) {
    for (const std::int64_t minute : {70, 80, 90}) {
      r.moments.push_back({Instant{std::chrono::minutes(minute)}, minute, fmt::format("{} requests wait", minute), ""});
    }
    r.moments.push_back({Instant{std::chrono::seconds(60)}, 9'999, "2 jobs of train waited", JobWaits::kReason});
  }
  const std::string text = render_text(c, "s.yaml");
  EXPECT_NE(text.find("90 requests wait"), std::string::npos) << text;
  EXPECT_NE(text.find("140 requests wait"), std::string::npos) << "the wait of jobs takes no place of another moment";
  const std::size_t jobs = text.find("2 jobs of train waited");
  ASSERT_NE(jobs, std::string::npos);
  EXPECT_EQ(text.find("2 jobs of train waited", jobs + 1), std::string::npos) << "once";
}

TEST(RenderJson, APolicyThatHoldsTheSloByChanceHasTheSentenceOfItsRow) {
  Comparison c = two();
  c.seed_checks = {{.policy = c.results[0].policy, .outcomes = {{.seed = 1, .holds_slo = true}, {.seed = 2}}}};
  const nlohmann::json json = nlohmann::json::parse(render_json(c, {}));
  EXPECT_EQ(json["policies"][0]["remarks"], nlohmann::json({"holds the SLO with only 1 of the seeds 1 to 2"}));
  EXPECT_EQ(json["marked"], nullptr);
}

TEST(RenderJson, AReportHasTheSentencesOfTheText) {
  const nlohmann::json json = nlohmann::json::parse(render_json(foreseen(), {.decisions = true}));
  EXPECT_EQ(json["policies"][1]["remarks"], nlohmann::json({"broken invariants: 3 gangs partly placed"}));
  EXPECT_EQ(json["policies"][0]["remarks"], nlohmann::json::array());
  ASSERT_EQ(json["why"].size(), 1U);
  EXPECT_TRUE(json["why"][0].get<std::string>().starts_with(
      "queue · gang · group compared with duty cycle · first-fit · CA: 38.3 percentage points more met"));
  EXPECT_EQ(json["notes"], nlohmann::json::array());
  const auto bound = json["clairvoyant"]["words"].get<std::string>();
  EXPECT_EQ(std::ranges::count(bound, '\n'), 3) << "one line for each subject: " << bound;
  const nlohmann::json plain = nlohmann::json::parse(render_json(foreseen(), {}));
  EXPECT_FALSE(plain.contains("why") || plain["clairvoyant"].contains("words"));
}

TEST(RenderJson, EveryRowOfTheTableHasItsRemarksAndTheMarkedOneIsNamed) {
  Comparison c = foreseen();
  c.clairvoyant->achievable.result.invariants.scale_downs_without_data = 1;
  nlohmann::json json = nlohmann::json::parse(render_json(c));
  EXPECT_EQ(json["policies"][1]["remarks"], nlohmann::json({"broken invariants: 3 gangs partly placed"}));
  EXPECT_EQ(json["clairvoyant"]["achievable"]["result"]["remarks"],
            nlohmann::json({"broken invariants: 1 scale-down without data"}));
  EXPECT_EQ(json["marked"], "queue · gang · group");
  c.seed_checks = {{.policy = "queue · gang · group", .outcomes = {{.seed = 2}}}};
  json = nlohmann::json::parse(render_json(c));
  EXPECT_TRUE(json.contains("marked") && json["marked"].is_null()) << "chance decides whether it holds the SLO";
  c.seed_checks.clear();
  c.results.resize(1);
  EXPECT_TRUE(nlohmann::json::parse(render_json(c))["marked"].is_null()) << "a single row has no mark";
}

TEST(Layout, EveryLineIsWrappedAndEnded) {
  const std::string forty(40, 'x');
  EXPECT_EQ(wrapped_lines("one two\n" + forty + " three four", 44), "one two\n" + forty + "\nthree four\n");
  EXPECT_EQ(wrapped_lines("", 80), "\n");
  EXPECT_EQ(sentence_lines("Demand is 1.5. 2 replicas are needed. The limit is v. low."),
            "Demand is 1.5.\n2 replicas are needed.\nThe limit is v. low.");
}

TEST(RenderText, AComparisonIsATableAndItsVerdict) {
  EXPECT_EQ(render_text(two(), "s.yaml"),
            R"(Azure LLM 2023, conversation · 58 min 22 s · 1,000 requests · profile azure-hour · seed 1
Llama-3.3-70B TP4 on A100, gangs of 4 pods in one node · SLO 99.0 %: TTFT ≤ 2 s, TPOT ≤ 80 ms · slowest median cold
start 2 min 10 s

  policy                          met TTFT p99   GPU-h idle GPU-min  GPU time         USD   unmet score
▶ queue · gang · group         99.3 %   1.62 s    20.0          360  ███████▒▒▒     40.00       0  24.8
  duty cycle · first-fit · CA  61.0 %   48.2 s    30.0        1,080  ████▒▒▒▒▒▒     60.00      12  10.2
    broken invariants: 3 gangs partly placed
  GPU time: █ busy ▒ idle ░ starting ▞ held by partial gangs · launching or unallocated

queue · gang · group is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.3
% met for 40.00 USD in 58 min 22 s (41.12 USD/h, 30,017 USD/month). No other policy holds the SLO; duty cycle ·
first-fit · CA comes closest: 61.0 % met for 60.00 USD.
why   queue · gang · group compared with duty cycle · first-fit · CA: 38.3 percentage points more met (371 fewer late,
      12 fewer timed out); 10.0 GPU-hours less: 12.0 h less idle, 2.0 h more busy
      00:17:20  140 requests wait, +1 replica was wanted (duty cycle · first-fit · CA)
next  capstan sim s.yaml --policy "queue · gang · group" · for manifests to deploy: capstan plan SPEC.yaml; capstan plan
      --example prints a spec
)");
}

/// Returns the column of the text in which the first occurrence of a word ends.
std::size_t end_column(const std::string& text, const std::string& word) {
  const std::size_t found = text.find(word);
  EXPECT_NE(found, std::string::npos) << word << " in " << text;
  if (found == std::string::npos) return 0;
  const std::size_t line = text.rfind('\n', found) + 1;
  return columns(text.substr(line, found + word.size() - line));
}

TEST(RenderText, LongNumbersStayBelowTheirHeads) {
  Comparison c = two();
  c.results[0].gpu_ns[static_cast<std::size_t>(GpuState::busy)] = GpuNanoseconds{22'366'794} * 3'600'000'000'000;
  const std::string text = render_text(c, "s.yaml");
  EXPECT_EQ(end_column(text, " 22,366,800.0"), end_column(text, "GPU-h"));
  EXPECT_EQ(end_column(text, " 30.0"), end_column(text, "GPU-h")) << "the next row has the same columns";
  EXPECT_EQ(end_column(text, " 1,080"), end_column(text, "idle GPU-min"));
}

TEST(RenderText, RowsOfTheConstantFleetAndOfForesightFollowThePolicies) {
  const std::string text = render_text(advised(), "s.yaml");
  EXPECT_NE(text.find(R"(
  constant fleet of 4 replicas (hindsight)  99.2 %   1.62 s    17.0          180  ████████▒▒     34.00       0  29.2
  lower bound for 99.0 % met                     -        -    13.0            -                 26.00       -     -
  achievable with all requests known        99.1 %   1.62 s    16.0          180  ████████▒▒     32.00       0  31.0
  GPU time:)"),
            std::string::npos)
      << text;
}

Comparison one() {
  Comparison c = two();
  c.results.pop_back();
  RunResult& r = c.results.front();
  r.requests.retries = 1;
  r.prompt_tokens = 1'014'000;
  r.tokens = {.generated = 211'400, .delivered = 211'000, .cut = 400, .abandoned = 0, .held = 0};
  r.gpu_ns[static_cast<std::size_t>(GpuState::starting)] = 90'000'000'000;
  r.replicas_peak = 3;
  r.cold_starts = 2;
  r.cold_start_max = std::chrono::seconds(171);
  r.nodes_launched = 1;
  r.decisions = 12;
  r.disruptions = {
      .consolidation = 1, .scale_down = 0, .eviction = 0, .spot = 0, .requests_cut = 9, .requests_cut_forced = 0};
  return c;
}

TEST(RenderText, ASingleRunIsShownInFull) {
  EXPECT_EQ(render_text(one(), "s.yaml"),
            R"(Azure LLM 2023, conversation · 58 min 22 s · 1,000 requests · profile azure-hour · seed 1
Llama-3.3-70B TP4 on A100, gangs of 4 pods in one node · SLO 99.0 %: TTFT ≤ 2 s, TPOT ≤ 80 ms · median cold start 2 min
10 s

  policy                   met TTFT p99   GPU-h idle GPU-min  GPU time         USD   unmet score
  queue · gang · group  99.3 %   1.62 s    20.0          360  ███████▒▒▒     40.00       0  24.8
  GPU time: █ busy ▒ idle ░ starting ▞ held by partial gangs · launching or unallocated

  GPU time           GPU-h     share       USD
    launching          0.0     0.0 %      0.00
    unallocated        0.0     0.0 %      0.00
    held               0.0     0.0 %      0.00
    starting           0.0     0.1 %      0.00
    busy              14.0    69.9 %     28.00
    idle               6.0    30.0 %     12.00
    draining           0.0     0.0 %      0.00
    paid              20.0   100.0 %     40.00
    least needed       5.0    25.0 %
  cost          40.28 USD per 1,000 met requests · 189.57 USD per million answer tokens
  latency             mean       p50       p90       p95       p99
    TTFT            0.35 s    0.20 s    0.90 s    1.40 s    1.62 s
    TPOT           33.0 ms   31.0 ms   42.0 ms   48.0 ms   61.3 ms
    end to end      6.00 s    5.00 s    9.00 s    12.0 s    60.0 s
  requests      1,000 arrived · 993 met · 7 late · 0 rejected · 0 failed · 0 timed out · 0 in flight · 0 queued · 1
                retry
  prompt tokens 1,014,000 completed · 0 of them cached
  answer tokens 211,400 generated · 211,000 delivered · 400 cut · 0 abandoned · 0 under way
  replicas      3 ready at the peak · 0 gangs waited for GPUs · 2 cold starts, median 2 min 10 s, the longest 2 min 51 s
  nodes         1 launched · 0 refused · 0 released
  disruptions   1 by consolidation · 0 by scale-down · 0 by eviction · 0 by spot · 9 requests cut · 0 of them by spot
  decisions     12 actions · 0 reversals

queue · gang · group holds the SLO of 99.0 %: 99.3 % met for 40.00 USD in 58 min 22 s (41.12 USD/h, 30,017 USD/month); 7
late, 0 without a complete answer, score 24.8.
next  capstan compare s.yaml · capstan sim s.yaml --policy "queue · gang · group" -o json
)");
}

TEST(Details, CostIsSplitWhereThereIsMoreThanOneKind) {
  RunResult r = result("a", 990, 10, 10);
  r.spending.push_back(r.spending.front());
  r.spending.front().micro_usd = 30'000'000;
  r.spending.back().micro_usd = 10'000'000;
  r.spending.back().capacity = model::CapacityType::spot;
  const std::string text = details(r, 120);
  EXPECT_NE(text.find("  by capacity   on-demand 30.00 USD · spot 10.00 USD\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("by zone"), std::string::npos);
  EXPECT_EQ(text.find("by pool"), std::string::npos);
}

TEST(RenderJson, GpuTimeBeyondSixtyFourBitsIsAFloatingPointNumber) {
  Comparison c = two();
  constexpr std::int64_t kHour = 3'600'000'000'000;
  c.results.resize(1);
  c.results[0].gpu_ns[static_cast<std::size_t>(GpuState::busy)] = GpuNanoseconds{kHour} * 5'760'000;
  c.results[0].gpu_ns[static_cast<std::size_t>(GpuState::idle)] = 0;
  const nlohmann::json policy = nlohmann::json::parse(render_json(c))["policies"][0];
  EXPECT_EQ(policy["paid_gpu_hours"], 5'760'000.0);
  EXPECT_EQ(policy["paid_gpu_time_ns"], 5'760'000.0 * 3.6e12);
  EXPECT_EQ(policy["gpu_hours_by_state"]["busy"], 5'760'000.0);
  EXPECT_NE(details(c.results[0], 120).find("5,760,000.0"), std::string::npos);
}

TEST(Details, ARunWithoutAnswersHasNoLatencies) {
  EXPECT_EQ(details(RunResult{}, 120).find("TTFT"), std::string::npos);
  EXPECT_NE(details(one().results.front(), 120).find("TTFT"), std::string::npos);
}

TEST(RenderText, WithoutAPolicyThatHoldsTheSloThereIsNoMark) {
  Comparison c = two();
  c.slo.attainment_ppm = 999'000;
  EXPECT_EQ(render_text(c, "s.yaml").find("▶"), std::string::npos);
}

TEST(RenderText, NoLineIsWiderThanTheTerminal) {
  Comparison drawn = advised();
  for (RunResult& r : drawn.results) r.minutes.resize(59);
  for (const Comparison& c : {two(), one(), drawn}) {
    for (const int width : {80, 100, 120, 200}) {
      const std::string text =
          render_text(c, "scenarios/azure-hour.yaml", {.color = false, .sparklines = true, .width = width});
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

void collect_keys(const nlohmann::json& json, std::set<std::string>& keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) collect_keys(value, keys);
  }
}

TEST(RenderJson, EveryKeyIsOnThePageOfTheResult) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/docs/reference/result.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  Comparison c = advised();
  c.results[0].minutes.resize(1);
  c.results[0].scale_steps.resize(1);
  c.results[0].scale_steps[0].arithmetic = "2 + 2 replicas";
  RunHistory history;
  history.nodes.resize(1);
  history.gangs.resize(1);
  history.gangs[0].waits.resize(1);
  history.starts.resize(1);
  c.results[0].history = history;
  model::Catalog catalog;
  catalog.services.resize(1);
  catalog.queues.resize(1);
  c.catalog = std::make_shared<const model::Catalog>(catalog);
  std::set<std::string> keys;
  collect_keys(nlohmann::json::parse(render_json(c, {.decisions = true, .command = "capstan sim a.yaml"})), keys);
  EXPECT_GT(keys.size(), 80u);
  EXPECT_TRUE(keys.contains("arithmetic"));
  for (const std::string& key : keys) EXPECT_NE(page.find("`" + key + "`"), std::string::npos) << key;
}

TEST(RenderText, ColoursOnlyWhereAsked) {
  EXPECT_EQ(render_text(two(), "s.yaml").find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(two(), "s.yaml", {.color = true}).find('\x1b'), std::string::npos);
}

TEST(RenderJson, BeginsWithItsVersionAndEndsEachPolicyWithTheScore) {
  const std::string json = render_json(two());
  EXPECT_TRUE(json.starts_with("{\n  \"format_version\": 1,\n")) << json.substr(0, 60);
  EXPECT_NE(json.find("\"score_milli\": 24825\n"), std::string::npos) << json;
  EXPECT_EQ(json, render_json(two()));
}

TEST(Score, CountsWorkNotDutyCycle) {
  RunResult r = result("x", 1000, 10, 0);
  EXPECT_EQ(r.score_milli(), 50'000);
  r.useful_gpu_ns = r.paid_gpu_ns();
  EXPECT_EQ(r.score_milli(), 100'000);
  EXPECT_EQ(RunResult{}.score_milli(), 0);
}

TEST(Words, AreExact) {
  EXPECT_EQ(tenths(999'499, 10'000), "99.9");
  EXPECT_EQ(experiment::seconds(9'994'999), "9.99 s");
  EXPECT_EQ(experiment::seconds(9'995'000), "10.0 s");
  EXPECT_EQ(experiment::seconds(120'400'000), "120 s");
  EXPECT_EQ(clock({std::chrono::seconds(3661)}), "01:01:01");
  EXPECT_EQ(columns("a·▶"), 3u);
  EXPECT_EQ(shortened("a·bcd", 3), "a·…");
  EXPECT_EQ(shortened_name("queue · gang · karpenter", 14), "queue ·…penter");
  EXPECT_EQ(shortened_name("queue · gang · group", 14), "queue ·… group");
  EXPECT_EQ(shortened_name("a·b", 3), "a·b");
}

TEST(Words, AShellReadsTheWordUnchanged) {
  EXPECT_EQ(shell_word("scenarios/azure-hour.yaml"), "scenarios/azure-hour.yaml");
  EXPECT_EQ(shell_word("load.scale=2"), "load.scale=2");
  EXPECT_EQ(shell_word("my file.yaml"), "\"my file.yaml\"");
  EXPECT_EQ(shell_word("queue · gang"), "\"queue · gang\"");
  EXPECT_EQ(shell_word("a $HOME `x`"), "'a $HOME `x`'");
  EXPECT_EQ(shell_word("it's \"this\""), "'it'\\''s \"this\"'");
  EXPECT_EQ(shell_word(""), "\"\"");
}

}  // namespace
}  // namespace capstan::experiment
