#include "experiment/report/services.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace capstan::experiment {
namespace {

RunResult result_of(const std::vector<std::pair<const char*, RequestCount>>& met_of_thousand) {
  RunResult result;
  result.policy = "capstan";
  result.minutes.resize(10);
  for (const auto& [name, met] : met_of_thousand) {
    ServiceFigures& service = result.services.emplace_back();
    service.name = name;
    service.requests = {.arrived = 1000, .completed = 1000, .met = met};
    service.ttft.p99_us = 1'500'000;
    service.tpot.p99_us = 40'000;
    service.ready_minutes = 25;
    service.gpu_ns = GpuNanoseconds{36} * 100'000'000'000;
    service.micro_usd = 12'500'000;
  }
  return result;
}

TEST(ServiceWords, TheTableShowsEachService) {
  EXPECT_EQ(service_table(result_of({{"chat", 995}, {"code", 900}}), 110),
            "  service            met    asked  TTFT p99  TPOT p99    ready    GPU-h        USD\n"
            "  chat            99.5 %   99.0 %    1.50 s   40.0 ms      2.5      1.0      12.50\n"
            "  code            90.0 %   99.0 %    1.50 s   40.0 ms      2.5      1.0      12.50\n"
            "  no pod                                                            0.0       0.00\n"
            "  capstan misses code (90.0 % met, 99.0 % asked)\n");
}

TEST(ServiceWords, RolesAndVariantsStandBelowTheirService) {
  RunResult result = result_of({{"chat", 995}});
  result.services[0].roles = {{.role = model::Role::prefill, .variant = "", .ready_peak = 1, .ready_minutes = 10},
                              {.role = model::Role::decode, .variant = "", .ready_peak = 3, .ready_minutes = 15}};
  const std::string table = service_table(result, 110);
  EXPECT_NE(table.find("\n    prefill                                                1.0\n"
                       "    decode                                                 1.5\n"),
            std::string::npos)
      << table;
}

TEST(ServiceWords, OneServiceNeedsNoTable) { EXPECT_EQ(service_table({}, 110), ""); }

TEST(ServiceWords, JobsAndQueuesHaveTheirTables) {
  RunResult result = result_of({{"chat", 995}});
  JobFigures jobs;
  jobs.name = "nightly";
  jobs.arrived = 24;
  jobs.ended = 20;
  jobs.wait_p50 = std::chrono::seconds(90);
  jobs.wait_p99 = std::chrono::hours(27);
  jobs.gpu_ns = GpuNanoseconds{36} * 100'000'000'000;
  jobs.micro_usd = 12'500'000;
  jobs.computed_gpu_ns = GpuNanoseconds{27} * 100'000'000'000;
  result.jobs = {jobs};
  result.simulated = std::chrono::hours(8);
  EXPECT_EQ(
      job_table(result),
      "\n"
      "  jobs           in time    asked  wait p50  wait p99    ended  per hour  run GPU-h    GPU-h        USD\n"
      "  nightly              -        -  00:01:30  27:00:00    20/24       2.5        0.8      1.0      12.50\n");
  result.jobs[0].ended = 1878;
  result.jobs[0].arrived = 2013;
  EXPECT_EQ(job_table(result),
            "\n"
            "  jobs           in time    asked  wait p50  wait p99        ended  per hour  run GPU-h    GPU-h        "
            "USD\n"
            "  nightly              -        -  00:01:30  27:00:00  1,878/2,013     234.8        0.8      1.0      "
            "12.50\n")
      << "long numbers do not run into the column before them";
  result.jobs = {jobs};
  result.jobs[0].goal = scenario::JobGoal{.finish_within = std::chrono::hours(1), .attainment_ppm = 950'000};
  result.jobs[0].due = 24;
  result.jobs[0].late = 6;
  result.jobs[0].resized = 2;
  result.jobs[0].lost_gpu_ns = GpuNanoseconds{18} * 100'000'000'000;
  EXPECT_EQ(job_table(result),
            "\n"
            "  jobs           in time    asked  wait p50  wait p99    ended  per hour  run GPU-h    GPU-h        USD\n"
            "  nightly         75.0 %   95.0 %  00:01:30  27:00:00    20/24       2.5        0.8      1.0      12.50\n"
            "\n"
            "  lost work     restarts  preempted  resized  lost GPU-h\n"
            "  nightly              0          0        2         0.5\n")
      << "a change of width loses work without a restart";
  EXPECT_EQ(missed_services_words(result), "nightly (75.0 % in time, 95.0 % asked)");
  QueueFigures queue;
  queue.name = "batch";
  queue.limit = whole_gpus(16);
  queue.held_minutes = whole_gpus(80);
  queue.held_peak = whole_gpus(16);
  queue.waiting_peak = whole_gpus(24);
  queue.jobs_waiting_peak = 3;
  result.queues = {queue};
  EXPECT_EQ(
      queue_table(result),
      "\n"
      "  queue           limit  held, mean  held, peak  GPUs waiting, peak  jobs waiting, peak    GPU-h        USD\n"
      "  batch            16.0         8.0        16.0                24.0                   3      0.0       0.00\n");
  result.jobs.clear();
  EXPECT_EQ(queue_table(result),
            "\n"
            "  queue           limit  held, mean  held, peak  GPUs waiting, peak    GPU-h        USD\n"
            "  batch            16.0         8.0        16.0                24.0      0.0       0.00\n")
      << "without jobs there are none to wait";
}

TEST(ServiceWords, TeamsHaveTheirTable) {
  RunResult result = result_of({{"chat", 995}});
  EXPECT_EQ(team_table(result), "");
  TeamFigures team;
  team.name = "web";
  team.arrived = 12'345;
  team.met = 12'000;
  team.gpu_ns = GpuNanoseconds{36} * 100'000'000'000;
  team.micro_usd = 12'500'000;
  TeamFigures rest;
  rest.jobs_arrived = 3;
  rest.jobs_ended = 2;
  result.teams = {team, rest};
  result.idle_node_micro_usd = 1'000'000;
  EXPECT_EQ(team_table(result),
            "\n"
            "  team            requests       met    jobs ended    GPU-h        USD\n"
            "  web               12,345    97.2 %             -      1.0      12.50\n"
            "  no team                -         -           2/3      0.0       0.00\n"
            "  no pod                                                0.0       1.00\n");
}

TEST(ServiceWords, LongNumbersOfServicesDoNotTouch) {
  RunResult result = result_of({{"chat", 995}});
  result.idle_node_gpu_ns = GpuNanoseconds{22'311'650} * 3'600'000'000'000;
  result.idle_node_micro_usd = 8'720'712'580'000;
  EXPECT_NE(service_table(result, 110).find("  22,311,650.0  8,720,712.58\n"), std::string::npos);
}

TEST(ServiceWords, JobsThatNeverArriveHaveNoWaitAndOnesThatLoseNothingHaveNoRowOfLostWork) {
  RunResult result;
  result.jobs = {{.name = "never"}, {.name = "train", .arrived = 1}};
  result.jobs[1].restarts = 1;
  const std::string table = job_table(result);
  EXPECT_NE(table.find("  never                -        -         -         -      0/0"), std::string::npos) << table;
  EXPECT_EQ(table.find("never", table.find("lost work")), std::string::npos) << table;
  EXPECT_NE(table.find("train", table.find("lost work")), std::string::npos) << table;
}

TEST(ServiceWords, ThePhraseNamesTheGoalsOfJobs) {
  Comparison comparison;
  comparison.slo.attainment_ppm = 990'000;
  comparison.results = {result_of({{"chat", 1}})};
  comparison.results[0].jobs.emplace_back().goal.emplace();
  EXPECT_EQ(slo_phrase(comparison), "the SLO of 99.0 % and the goals of the jobs");
}

TEST(ServiceWords, OfManyMissedServicesThreeAreNamed) {
  EXPECT_EQ(missed_services_words(result_of({{"a", 900}, {"b", 2}, {"c", 3}, {"d", 999}, {"e", 1}})),
            "e (0.1 % met, 99.0 % asked), b (0.2 % met, 99.0 % asked), c (0.3 % met, 99.0 % asked) and 1 more")
      << "the worst are named";
  EXPECT_EQ(missed_services_words(result_of({{"a", 1}, {"b", 2}})),
            "a (0.1 % met, 99.0 % asked) and b (0.2 % met, 99.0 % asked)");
  EXPECT_EQ(missed_services_words(result_of({{"a", 999}})), "");
}

TEST(ServiceWords, ThePhraseCountsTheServices) {
  Comparison comparison;
  comparison.slo.attainment_ppm = 990'000;
  comparison.results = {RunResult()};
  EXPECT_EQ(slo_phrase(comparison), "the SLO of 99.0 %");
  comparison.results = {result_of({{"a", 1}, {"b", 2}})};
  EXPECT_EQ(slo_phrase(comparison), "the SLOs of both services");
}

TEST(ServiceWords, OfManyServicesTheWorstHaveRowsAndTheOthersASum) {
  RunResult result;
  result.policy = "capstan";
  result.minutes.resize(10);
  for (int i = 0; i < 1000; ++i) {
    ServiceFigures& service = result.services.emplace_back();
    service.name = "s" + std::to_string(i);
    service.requests = {.arrived = 1000, .completed = 1000, .met = i == 700 ? 400 : 1000};
    service.gpu_ns = GpuNanoseconds{36} * 100'000'000'000;
    service.micro_usd = 2'000'000;
  }
  const std::string table = service_table(result, 110);
  EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 24 + 1 + 1 + 1) << table;
  EXPECT_LT(table.find("  s700            40.0 %"), table.find("  s0 ")) << "the worst service is first";
  EXPECT_NE(table.find("  976 others     100.0 %                                   0.0    976.0   1,952.00\n"),
            table.npos)
      << table;
  const std::string all = service_table(result, 110, TableRows::all);
  EXPECT_EQ(std::ranges::count(all, '\n'), 1 + 1000 + 1 + 1);
  EXPECT_LT(all.find("  s0 "), all.find("  s700 "));
}

TEST(ServiceWords, OfManyJobsAndQueuesTheWorstHaveRows) {
  RunResult result;
  for (int i = 0; i < 40; ++i) {
    result.jobs.push_back({.name = "j" + std::to_string(i), .team = {}, .arrived = 2, .ended = 1});
    QueueFigures queue;
    queue.name = "q" + std::to_string(i);
    queue.waiting_peak = whole_gpus(i);
    result.queues.push_back(queue);
    result.teams.push_back({.name = "t" + std::to_string(i), .micro_usd = 1'000'000});
  }
  result.jobs[30].wait_p99 = std::chrono::hours(2);
  EXPECT_NE(job_table(result).find("  16 others                                              16/32"), std::string::npos)
      << job_table(result);
  EXPECT_LT(job_table(result).find("j30"), job_table(result).find("  j0 "));
  EXPECT_LT(queue_table(result).find("  q39 "), queue_table(result).find("  q16 "));
  EXPECT_NE(queue_table(result).find("  16 others"), std::string::npos);
  EXPECT_NE(team_table(result).find("  16 others"), std::string::npos);
  EXPECT_EQ(queue_table(result, TableRows::all).find("others"), std::string::npos);
}

}  // namespace
}  // namespace capstan::experiment
