#include "experiment/render.h"

#include <gtest/gtest.h>

#include "experiment/words.h"

namespace capstan::experiment {
namespace {

RunResult result(const char* policy, RequestCount met, std::int64_t busy_hours, std::int64_t idle_hours) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  RunResult r;
  r.policy = policy;
  r.seed = 1;
  r.simulated = std::chrono::seconds(3502);
  r.requests = {.arrived = 1000, .completed = 1000 - (met < 900 ? 12 : 0), .met = met, .timed_out = met < 900 ? 12 : 0};
  r.ttft = {200'000, 900'000, met < 900 ? 48'200'000 : 1'620'000};
  r.gpu_ns[static_cast<std::size_t>(GpuState::busy)] = busy_hours * kHour;
  r.gpu_ns[static_cast<std::size_t>(GpuState::idle)] = idle_hours * kHour;
  r.cost_micro_usd[static_cast<std::size_t>(GpuState::busy)] = busy_hours * 2'000'000;
  r.cost_micro_usd[static_cast<std::size_t>(GpuState::idle)] = idle_hours * 2'000'000;
  r.useful_gpu_ns = 5 * kHour;
  r.cold_start_p50 = std::chrono::seconds(130);
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
  c.results[0].moments = {{Instant{std::chrono::seconds(1040)}, 90, "140 requests wait, +1 replica was asked for", ""}};
  rank(c.results);
  return c;
}

TEST(RenderText, Golden) {
  EXPECT_EQ(render_text(two(), "s.yaml"),
            R"(Azure LLM 2023, conversation · 58 min 22 s · 1,000 requests · profile azure-hour · seed 1
Llama-3.3-70B TP4 on A100, gangs of 4 pods in one node · SLO 99.0 %: TTFT ≤ 2 s, TPOT ≤ 80 ms · cold start 2 min 10 s

  policy                          met TTFT p99   GPU-h idle GPU-min  GPU time         USD   unmet score
▶ queue · gang · group         99.3 %   1.62 s    20.0          360  ███████▒▒▒     40.00       0  24.8
  duty cycle · first-fit · CA  61.0 %   48.2 s    30.0        1,080  ████▒▒▒▒▒▒     60.00      12  10.2
    broke: 3 gangs partly placed
  GPU time: █ busy ▒ idle ░ starting ▞ held · empty

queue · gang · group wins and holds the SLO: 99.3 % met, 99.0 % asked; 38.3 points more than duty cycle · first-fit ·
CA, for 33 % less money.
why   00:17:20  140 requests wait, +1 replica was asked for (duty cycle · first-fit · CA)
next  capstan sim s.yaml --policy "queue · gang · group" -o json
)");
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

TEST(Rank, TiesGoByName) {
  std::vector<RunResult> results = {result("b", 900, 1, 1), result("a", 900, 1, 1), result("c", 950, 1, 1)};
  rank(results);
  EXPECT_EQ(results[0].policy, "c");
  EXPECT_EQ(results[1].policy, "a");
}

TEST(Score, CountsWorkNotDutyCycle) {
  RunResult r = result("x", 1000, 10, 0);
  EXPECT_EQ(r.score_milli(), 50'000);
  r.useful_gpu_ns = r.paid_gpu_ns();
  EXPECT_EQ(r.score_milli(), 100'000);
  EXPECT_EQ(RunResult{}.score_milli(), 0);
}

TEST(Words, AreExact) {
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(tenths(999'499, 10'000), "99.9");
  EXPECT_EQ(seconds(9'994'999), "9.99 s");
  EXPECT_EQ(seconds(9'995'000), "10.0 s");
  EXPECT_EQ(seconds(120'400'000), "120 s");
  EXPECT_EQ(time_words(std::chrono::milliseconds(1500)), "1 s 500 ms");
  EXPECT_EQ(time_words(std::chrono::seconds(3600)), "1 h");
  EXPECT_EQ(time_words({}), "0 s");
  EXPECT_EQ(clock({std::chrono::seconds(3661)}), "01:01:01");
  EXPECT_EQ(columns("a·▶"), 3u);
  EXPECT_EQ(shortened("a·bcd", 3), "a·…");
}

}  // namespace
}  // namespace capstan::experiment
