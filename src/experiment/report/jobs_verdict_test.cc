#include "experiment/report/jobs_verdict.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiment/report/render.h"
#include "experiment/report/verdict.h"
#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// A policy: how many of 20 jobs without a goal ended, how many of 10 jobs with a goal were late, and the cost.
struct JobsRun {
  const char* name;
  std::int64_t ended;
  std::int64_t late;
  std::int64_t usd;
};

constexpr std::int64_t kNoGoal = -1;

RunResult jobs_run(const JobsRun& row) {
  RunResult result;
  result.policy = row.name;
  result.simulated = std::chrono::hours(2);
  result.cost_micro_usd[0] = row.usd * 1'000'000;
  result.gpu_ns[0] = GpuNanoseconds{row.usd} * 3'600'000'000'000;
  JobFigures free{.name = "eval", .arrived = 20, .ended = row.ended, .waiting = 20 - row.ended};
  result.jobs.push_back(free);
  if (row.late == kNoGoal) return result;
  JobFigures train{.name = "train", .arrived = 10, .ended = 10, .due = 10, .late = row.late};
  train.goal = scenario::JobGoal{.finish_within = std::chrono::hours(1), .attainment_ppm = 900'000};
  result.jobs.push_back(train);
  return result;
}

struct JobsCase {
  const char* teaches;
  std::vector<JobsRun> policies;
  const char* words;
};
const JobsCase kJobsCases[] = {
    {"without goals the policy under which most jobs end comes first, whatever it costs",
     {{"none", 0, kNoGoal, 0}, {"all", 20, kNoGoal, 80}},
     "all is the cheapest of the policies under which the most jobs end: 20 of 20 jobs ended for 80.00 USD in 2 h "
     "(40.00 USD/h, 29,200 USD/month). none comes next: 0 of 20 jobs ended for 0.0 GPU-hours, 100 % less than all."},
    {"if as many end, the cheaper one comes first",
     {{"dear", 20, kNoGoal, 80}, {"cheap", 20, kNoGoal, 60}},
     "cheap is the cheapest of the policies under which the most jobs end: 20 of 20 jobs ended for 60.00 USD in 2 h "
     "(30.00 USD/h, 21,900 USD/month). dear comes next: 20 of 20 jobs ended for 80.00 USD, 33 % more than cheap."},
    {"a goal comes before the number of other jobs",
     {{"late", 20, 2, 10}, {"in time", 18, 1, 50}},
     "in time is the cheapest policy that holds the goals of the jobs and ends the most jobs without a goal: 28 of 30 "
     "jobs "
     "ended for 50.00 USD in 2 h (25.00 USD/h, 18,250 USD/month). late comes next: 30 of 30 jobs ended for 10.00 USD, "
     "80 % less than in "
     "time; it misses train (80.0 % in time, 90.0 % asked)."},
    {"if all miss a goal, the first one misses least",
     {{"worse", 20, 4, 10}, {"better", 20, 3, 50}},
     "No policy holds the goals of the jobs. better comes closest: 30 of 30 jobs ended for 50.00 USD in 2 h (25.00 "
     "USD/h, 18,250 USD/month); it misses train (70.0 % in time, 90.0 % asked)."},
    {"policies that do the same",
     {{"a", 20, 0, 10}, {"b", 20, 0, 10}},
     "Both policies have the same result: 30 of 30 jobs ended for 10.00 USD in 2 h (5.00 USD/h, 3,650 USD/month) with "
     "each of them."},
    {"one policy without goals",
     {{"a", 19, kNoGoal, 10}},
     "a: 19 of 20 jobs ended for 10.00 USD in 2 h (5.00 USD/h, 3,650 USD/month)."},
    {"one policy that misses a goal",
     {{"a", 20, 5, 10}},
     "a misses train (50.0 % in time, 90.0 % asked): 30 of 30 jobs ended for 10.00 USD in 2 h (5.00 USD/h, 3,650 "
     "USD/month)."},
};

Comparison comparison_of(const std::vector<JobsRun>& policies) {
  Comparison c{.scenario = "s", .title = "s", .seed = 1, .load = "", .service = "", .slo = {}, .results = {}};
  for (const JobsRun& row : policies) c.results.push_back(jobs_run(row));
  rank(c.results, c.slo);
  return c;
}

TEST(JobsVerdict, NamesThePolicyToChoose) {
  for (const JobsCase& row : kJobsCases)
    EXPECT_EQ(verdict_words(comparison_of(row.policies)), row.words) << row.teaches;
}

TEST(JobsVerdict, TheAttainmentIsTheShareOfTheJobs) {
  EXPECT_EQ(jobs_run({"a", 20, kNoGoal, 10}).attainment_ppm(), 1'000'000);
  EXPECT_EQ(jobs_run({"a", 15, kNoGoal, 10}).attainment_ppm(), 750'000);
  EXPECT_EQ(jobs_run({"a", 18, 1, 10}).attainment_ppm(), 900'000) << "27 of 30 ended, or ended in time";
  RunResult useful = jobs_run({"a", 15, kNoGoal, 10});
  useful.useful_gpu_ns = useful.paid_gpu_ns() / 2;
  EXPECT_EQ(useful.score_milli(), 37'500);
}

TEST(JobsVerdict, DifferencesAreInJobs) {
  const RunResult a = jobs_run({"a", 20, 1, 10}), b = jobs_run({"b", 18, 2, 10});
  EXPECT_EQ(job_terms(a, b), "2 more jobs ended, 1 fewer job late");
  EXPECT_EQ(job_terms(a, a), "");
}

TEST(JobsVerdict, ACheaperRowSaysWhichGoalItMisses) {
  const std::string text = render_text(comparison_of({{"cheap", 20, 5, 10}, {"good", 20, 0, 50}}), "s.yaml", {});
  const std::size_t row = text.find("  cheap ");
  ASSERT_NE(row, text.npos) << text;
  const std::size_t next_line = text.find('\n', row) + 1;
  EXPECT_TRUE(text.substr(next_line).starts_with("    misses train (50.0 % in time, 90.0 % asked)\n")) << text;
  EXPECT_EQ(text.find("misses"), text.find("misses train", next_line)) << "the first policy misses nothing";
}

TEST(JobsVerdict, TheTextAndTheJsonHaveNoRequests) {
  const Comparison c = comparison_of({{"a", 20, 0, 10}, {"b", 18, 0, 9}});
  const std::string text = render_text(c, "s.yaml", {});
  EXPECT_NE(text.find("30 jobs"), text.npos) << text;
  EXPECT_NE(text.find("wait p99"), text.npos);
  EXPECT_NE(text.find("30/30"), text.npos);
  EXPECT_EQ(text.find("TTFT"), text.npos) << text;
  EXPECT_EQ(text.find("SLO"), text.npos) << text;
  EXPECT_NE(text.find("next  capstan sim s.yaml"), text.npos);
  EXPECT_EQ(text.find("capstan plan"), text.npos) << "a plan needs a service";
  const std::string one = render_text(comparison_of({{"a", 20, 0, 10}}), "s.yaml", {});
  EXPECT_EQ(one.find("replicas"), one.npos) << one;
  EXPECT_NE(one.find("0 launched"), one.npos);
  const auto json = nlohmann::json::parse(render_json(c, {}));
  EXPECT_TRUE(json["slo"].is_null());
  EXPECT_EQ(json["policies"][0]["jobs"].size(), 2u);
  EXPECT_EQ(json["policies"][0]["attainment_ppm"], 1'000'000);
}

}  // namespace
}  // namespace capstan::experiment
