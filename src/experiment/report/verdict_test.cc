#include "experiment/report/verdict.h"

#include <gtest/gtest.h>

#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

/// A row of a comparison: the met requests of 1,000, and the cost.
struct Outcome {
  const char* name;
  RequestCount met;
  std::int64_t usd;
};

RunResult outcome(const Outcome& row) {
  RunResult r;
  r.policy = row.name;
  r.requests = {.arrived = 1000, .completed = 1000, .met = row.met};
  r.gpu_ns[0] = GpuNanoseconds{row.usd} * 3'600'000'000'000 / 2;
  r.cost_micro_usd[0] = row.usd * 1'000'000;
  return r;
}

struct VerdictCase {
  const char* teaches;
  std::vector<Outcome> policies;
  std::optional<Outcome> constant;  ///< its name is the text of the fleet
  std::optional<Outcome> raised;    ///< its name is the setting; 0 met requests: it does not help
  const char* words;
};
const VerdictCase kVerdicts[] = {
    {"one holds it: its cost, and the next that comes closest",
     {{"a", 995, 40}, {"b", 610, 60}, {"c", 980, 20}},
     {},
     {},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % met for "
     "40.00 USD. No other policy holds the "
     "SLO; c comes closest: 98.0 % met for 20.00 USD."},
    {"several hold it: the cheapest, and how much more the next costs",
     {{"a", 995, 40}, {"b", 991, 35}, {"c", 990, 70}},
     {},
     {},
     "b is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.1 % met for "
     "35.00 USD. The next cheapest policy "
     "that holds the SLO is a: 99.5 % met for 40.00 USD, 14 % more than b."},
    {"a constant fleet costs more than the marked policy, and less than others",
     {{"a", 995, 40}, {"b", 992, 90}},
     {{"9 replicas", 991, 50}},
     {},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % met for "
     "40.00 USD. The next cheapest policy "
     "that holds the SLO is b: 99.2 % met for 90.00 USD, 125 % more than a. For comparison only: a constant fleet "
     "of 9 replicas, sized with knowledge of this load, would hold the SLO for 50.00 USD: 25 % more than "
     "a, less than b."},
    {"a constant fleet beats every policy",
     {{"a", 995, 78}, {"b", 964, 69}},
     {{"9 replicas", 991, 61}},
     {},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % met for "
     "78.00 USD. No other policy holds the "
     "SLO; b comes closest: 96.4 % met for 69.00 USD. For comparison only: a constant fleet of 9 replicas, sized "
     "with knowledge of this load, would hold the SLO for 61.00 USD, less than every policy here. a costs 28 % more "
     "than this "
     "fleet."},
    {"a constant fleet beats every policy that holds it, and a cheaper policy misses it",
     {{"a", 995, 78}, {"b", 964, 50}},
     {{"9 replicas", 991, 61}},
     {},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % met for "
     "78.00 USD. No other policy holds the "
     "SLO; b comes closest: 96.4 % met for 50.00 USD. For comparison only: a constant fleet of 9 replicas, sized "
     "with knowledge of this load, would hold the SLO for 61.00 USD, less than every policy here that holds the "
     "SLO. a costs 28 % more than this fleet."},
    {"a higher minimum makes the marked policy cheaper",
     {{"a", 991, 78}, {"b", 610, 90}},
     {{"9 replicas", 991, 85}},
     {{"replicas.min: 3", 993, 74}},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.1 % met for "
     "78.00 USD. No other policy holds the "
     "SLO; b comes closest: 61.0 % met for 90.00 USD. For comparison only: a constant fleet of 9 replicas, sized "
     "with knowledge of this load, would hold the SLO for 85.00 USD: 9 % more than a, less than b. "
     "With a higher minimum (replicas.min: 3), a would cost 74.00 USD "
     "instead of 78.00 USD and still hold the SLO (99.3 % met)."},
    {"a higher minimum that does not help the marked policy is not mentioned",
     {{"a", 991, 78}, {"b", 610, 90}},
     {{"9 replicas", 991, 95}},
     {{"replicas.min: 9", 0, 0}},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.1 % met for "
     "78.00 USD. No other policy holds the "
     "SLO; b comes closest: 61.0 % met for 90.00 USD. For comparison only: a constant fleet of 9 replicas, sized "
     "with knowledge of this load, would hold the SLO for 95.00 USD: 22 % more than a."},
    {"none holds it: how much the best lacks, and what would hold it",
     {{"a", 964, 69}, {"b", 610, 60}},
     {{"9 replicas", 991, 61}},
     {{"replicas.min: 5", 992, 72}},
     "No policy holds the SLO of 99.0 %. a comes closest: 96.4 % met for 69.00 USD, 26 requests short of the SLO "
     "(2.6 percentage points). For comparison only: a constant fleet of 9 replicas, sized with knowledge of this "
     "load, would hold the SLO for 61.00 USD, less than a. With "
     "a higher minimum (replicas.min: 5), a would hold the SLO for 72.00 USD (99.2 % met)."},
    {"none holds it, and a higher minimum does not help",
     {{"a", 964, 69}, {"b", 610, 60}},
     {{"9 replicas", 991, 80}},
     {{"replicas.min: 9", 0, 0}},
     "No policy holds the SLO of 99.0 %. a comes closest: 96.4 % met for 69.00 USD, 26 requests short of the SLO "
     "(2.6 percentage points). For comparison only: a constant fleet of 9 replicas, sized with knowledge of this "
     "load, would hold the SLO for 80.00 USD. A higher minimum, up to replicas.min: 9, was tried and does not "
     "make a hold the SLO."},
    {"no policy meets any request: what became of the requests",
     {{"a", 0, 69}, {"b", 0, 80}},
     {{"16 replicas", 0, 200}},
     {},
     "No policy holds the SLO of 99.0 %, and none meets a single request. a costs least, 69.00 USD: 1,000 of 1,000 "
     "requests were late (median TTFT 0.00 s, median TPOT 0.0 ms). No constant fleet within the limits would hold the "
     "SLO either: the best, 16 replicas, meets no request."},
    {"only one policy meets any request",
     {{"a", 995, 40}, {"b", 0, 60}},
     {},
     {},
     "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % met for "
     "40.00 USD. No other policy holds the SLO "
     "or meets a single request."},
    {"all policies are alike",
     {{"a", 995, 40}, {"b", 995, 40}, {"c", 995, 40}},
     {{"2 replicas", 995, 40}},
     {},
     "All 3 policies hold the SLO of 99.0 %: 99.5 % met for 40.00 USD with each of them. For comparison only: a "
     "constant fleet of 2 replicas, sized with knowledge of this load, would hold the SLO for 40.00 USD: as much "
     "as a."},
    {"a difference within half a percent has no number",
     {{"a", 995, 1000}},
     {{"9 replicas", 991, 1002}},
     {},
     "a holds the SLO of 99.0 %: 99.5 % met for 1,000.00 USD; 5 late, 0 without a complete answer, score 0.0. For "
     "comparison only: a constant fleet of 9 replicas, sized with knowledge of this load, would hold the SLO for "
     "1,002.00 USD: under 1 % more than a."},
    {"nothing that was tried holds it",
     {{"a", 989, 69}, {"b", 610, 60}},
     {{"16 replicas", 971, 200}},
     {},
     "No policy holds the SLO of 99.0 %. a comes closest: 98.9 % met for 69.00 USD, 1 request short of the SLO "
     "(0.1 percentage points). No constant fleet within the limits would hold the SLO either: the best, 16 "
     "replicas, meets 97.1 %."},
    {"one policy that was compared with a constant fleet only",
     {{"a", 995, 40}},
     {{"1 replica", 995, 30}},
     {},
     "a holds the SLO of 99.0 %: 99.5 % met for 40.00 USD; 5 late, 0 without a complete answer, score 0.0. For "
     "comparison only: a constant fleet of 1 replica, sized with knowledge of this load, would hold the SLO for "
     "30.00 USD, less than every policy here. a costs 33 % more than this fleet."},
    {"without a price GPU-hours are compared",
     {{"a", 995, 0}},
     {},
     {},
     "a holds the SLO of 99.0 %: 99.5 % met for 0.0 GPU-hours; 5 late, 0 without a complete answer, score 0.0."},
};

TEST(Verdict, SaysWhichPolicyToChooseAndWhatWouldBeBetter) {
  for (const VerdictCase& row : kVerdicts) {
    SCOPED_TRACE(row.teaches);
    Comparison c;
    c.seed = 1;
    c.slo.attainment_ppm = 990'000;
    for (const Outcome& policy : row.policies) c.results.push_back(outcome(policy));
    rank(c.results, c.slo);
    if (row.constant) {
      c.constant_fleet.emplace();
      c.constant_fleet->words = row.constant->name;
      c.constant_fleet->result = outcome(*row.constant);
      c.constant_fleet->holds_slo = holds_slo(c.constant_fleet->result, c.slo);
    }
    if (row.raised) {
      c.raised_minimum.emplace();
      c.raised_minimum->policy = c.results.front().policy;
      c.raised_minimum->setting = row.raised->name;
      if (row.raised->met > 0) c.raised_minimum->result = outcome(*row.raised);
    }
    EXPECT_EQ(verdict_words(c), row.words);
  }
}

TEST(Verdict, NamesTheLimitsThatAllowNoLargerConstantFleet) {
  Comparison c;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 900, 40})};
  c.constant_fleet.emplace();
  c.constant_fleet->words = "16 replicas";
  c.constant_fleet->result = outcome({"16 replicas", 971, 200});
  c.constant_fleet->limits = {"service.replicas.max: 16"};
  EXPECT_TRUE(verdict_words(c).ends_with(
      "the best, 16 replicas, meets 97.1 %. It is as large as service.replicas.max: 16 allows."))
      << verdict_words(c);
  c.constant_fleet->limits.emplace_back("cluster.pools.0.gpu_limit: 16");
  EXPECT_TRUE(verdict_words(c).ends_with(
      " It is as large as service.replicas.max: 16 and cluster.pools.0.gpu_limit: 16 allow."))
      << verdict_words(c);
}

/// The service asks for eight replicas, so no smaller fleet was tried.
TEST(Verdict, SaysWhenTheServiceAllowsNoSmallerConstantFleet) {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->services.emplace_back().min_replicas = 8;
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 995, 40})};
  c.catalog = catalog;
  c.constant_fleet = {
      .replicas = {8}, .words = "8 replicas", .holds_slo = true, .result = outcome({"constant", 999, 50})};
  EXPECT_NE(verdict_words(c).find("a constant fleet of 8 replicas, the fewest that replicas.min allows, sized with"),
            std::string::npos)
      << verdict_words(c);
  c.constant_fleet->replicas = {9};
  EXPECT_EQ(verdict_words(c).find("the fewest"), std::string::npos);
}

TEST(Verdict, ACostSaysForHowLong) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 995, 40}), outcome({"b", 964, 30})};
  for (RunResult& r : c.results) r.simulated = std::chrono::minutes(30);
  EXPECT_EQ(verdict_words(c),
            "a is the cheapest policy that holds the SLO of 99.0 % with seed 1, the only seed that was tried: 99.5 % "
            "met for 40.00 USD in 30 min (80.00 USD/h, "
            "58,400 USD/month). No other policy holds the SLO; b comes closest: 96.4 % met for 30.00 USD.");
}

TEST(Verdict, TheMarkGoesToTheCheapestThatHoldsTheSlo) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 995, 40}), outcome({"b", 964, 30})};
  EXPECT_EQ(marked_policy(c), &c.results[0]);
  c.results[0].requests.met = 980;
  EXPECT_EQ(marked_policy(c), nullptr);
}

SeedCheck seed_check(const char* policy, const std::vector<std::int64_t>& met_milli) {
  SeedCheck check{.policy = policy, .outcomes = {}};
  std::int64_t usd = 40'000'000;
  for (const std::int64_t met : met_milli) {
    check.outcomes.push_back({.seed = check.outcomes.size() + 1,
                              .attainment_ppm = met * 1000,
                              .holds_slo = met >= 990,
                              .micro_usd = usd,
                              .simulated = std::chrono::minutes(30)});
    usd += 1'500'000;
  }
  return check;
}

TEST(Verdict, SaysWhetherTheResultDependsOnTheSeed) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 995, 40}), outcome({"b", 996, 50}), outcome({"c", 997, 60})};
  c.seed_checks = {seed_check("a", {995, 992, 993, 991, 994})};
  EXPECT_EQ(
      verdict_words(c),
      "a is the cheapest policy that holds the SLO of 99.0 % with each of the seeds 1 to 5: 99.1 to 99.5 % met for "
      "40.00 to 46.00 USD, on average 86.00 USD/h (62,780 USD/month). With seed 1, as in the table: 99.5 % met for "
      "40.00 USD. The next cheapest policy that holds the SLO is b: 99.6 % met for 50.00 USD.");
  EXPECT_EQ(marked_policy(c), &c.results[0]);

  c.seed_checks = {seed_check("a", {995, 952, 993, 980, 970})};
  EXPECT_EQ(verdict_words(c),
            "No policy holds the SLO of 99.0 % with each of the seeds 1 to 5: a holds the SLO with 2 of them (95.2 to "
            "99.5 % met). With seed 1, a is the cheapest that holds the SLO: 99.5 % met for 40.00 USD.");
  EXPECT_EQ(marked_policy(c), nullptr) << "chance decides whether it holds the SLO";
}

/// The cheapest policy holds the SLO with two of five seeds, the next one with all of them.
TEST(Verdict, RecommendsThePolicyThatHoldsTheSloWithEverySeed) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 995, 40}), outcome({"b", 996, 50}), outcome({"c", 997, 60})};
  c.seed_checks = {seed_check("a", {995, 952, 993, 980, 970}), seed_check("b", {996, 996, 996, 996, 996})};
  put_steady_first(c.seed_checks, c.results);
  EXPECT_EQ(c.results[0].policy, "b");
  EXPECT_EQ(c.results[1].policy, "a");
  EXPECT_EQ(c.results[2].policy, "c");
  EXPECT_EQ(marked_policy(c), &c.results[0]);
  EXPECT_EQ(
      verdict_words(c),
      "b is the cheapest policy that holds the SLO of 99.0 % with each of the seeds 1 to 5: 99.6 % met for 40.00 to "
      "46.00 USD, on average 86.00 USD/h (62,780 USD/month). With seed 1, as in the table: 99.6 % met for 50.00 "
      "USD. The next cheapest policy that holds the SLO is c: 99.7 % met for 60.00 USD. A "
      "cheaper policy depends on chance: of the seeds 1 to 5, a holds the SLO with 2 of them (95.2 to 99.5 % "
      "met).");
  EXPECT_EQ(chance_row_words(c, c.results[0]), "");
  EXPECT_EQ(chance_row_words(c, c.results[1]), "holds the SLO with only 2 of the seeds 1 to 5");
}

/// Both policies hold the SLO with every seed. The one that costs more with the seed of the table costs less on
/// average.
TEST(Verdict, RecommendsThePolicyThatCostsLeastOnAverage) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 996, 40}), outcome({"b", 997, 41})};
  c.seed_checks = {seed_check("a", {996, 996, 996, 996, 996}), seed_check("b", {997, 997, 997, 997, 997})};
  for (SeedOutcome& outcome : c.seed_checks[1].outcomes) outcome.micro_usd = 41'000'000;
  put_steady_first(c.seed_checks, c.results);
  EXPECT_EQ(marked_policy(c), &c.results[0]);
  EXPECT_EQ(verdict_words(c),
            "b is the cheapest policy that holds the SLO of 99.0 % with each of the seeds 1 to 5: 99.7 % met for 41.00 "
            "USD, on average 82.00 USD/h (59,860 USD/month). With seed 1, as in the table: 99.7 % met for 41.00 USD. "
            "The next cheapest that holds it with each of them is a: 99.6 % met for 40.00 to 46.00 USD, on average "
            "86.00 USD/h (62,780 USD/month), 5 % more than b.");
}

TEST(Verdict, ComparesAConstantFleetWithTheAveragePriceOfThePolicy) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 996, 40})};
  c.seed_checks = {seed_check("a", {996, 996, 996, 996, 996})};
  ConstantFleet& fleet = c.constant_fleet.emplace();
  fleet = {.replicas = {9}, .words = "9 replicas", .holds_slo = true, .result = outcome({"9 replicas", 996, 30})};
  fleet.seeds = seed_check("9 replicas", {996, 996, 996, 996, 996});
  for (SeedOutcome& outcome : fleet.seeds->outcomes) outcome.micro_usd = 30'000'000;
  EXPECT_TRUE(verdict_words(c).ends_with(
      "a constant fleet of 9 replicas, sized with knowledge of this load, would hold the SLO with each of the seeds 1 "
      "to "
      "5, on average 60.00 USD/h (43,800 USD/month), 30 % less than a. With seed 1 it costs 30.00 USD, less than every "
      "policy here."))
      << verdict_words(c);
  fleet.seeds = seed_check("9 replicas", {996, 980, 980, 980, 980});
  fleet.steady = {.replicas = {10},
                  .words = "10 replicas",
                  .result = outcome({"10 replicas", 999, 35}),
                  .seeds = seed_check("10 replicas", {999, 999, 999, 999, 999})};
  EXPECT_TRUE(verdict_words(c).ends_with(
      "would hold the SLO with seed 1 for 30.00 USD, less than every policy here, but of the seeds 1 to 5 only with 1 "
      "of "
      "them (98.0 to 99.6 % met). 10 replicas would hold it with each of them, on average 86.00 USD/h (62,780 "
      "USD/month), as much as a."))
      << verdict_words(c);
}

TEST(Verdict, SaysWhetherARaisedMinimumHoldsTheSloWithEverySeed) {
  Comparison c;
  c.seed = 1;
  c.slo.attainment_ppm = 990'000;
  c.results = {outcome({"a", 964, 69})};
  c.constant_fleet.emplace();
  c.constant_fleet->words = "9 replicas";
  c.constant_fleet->holds_slo = true;
  c.constant_fleet->result = outcome({"9 replicas", 991, 61});
  c.raised_minimum.emplace();
  c.raised_minimum->policy = "a";
  c.raised_minimum->setting = "service.replicas.min: 5";
  c.raised_minimum->result = outcome({"a", 992, 72});
  c.raised_minimum->seeds = seed_check("a", {992, 991, 993, 995, 992});
  EXPECT_TRUE(verdict_words(c).ends_with(
      "With a higher minimum (service.replicas.min: 5), a would hold the SLO with each of the "
      "seeds 1 to 5: 99.1 to 99.5 % met for 40.00 to 46.00 USD, on average 86.00 USD/h "
      "(62,780 USD/month)."))
      << verdict_words(c);
  c.raised_minimum->seeds = seed_check("a", {992, 980, 993, 995, 992});
  EXPECT_TRUE(
      verdict_words(c).ends_with("(99.2 % met), but of the seeds 1 to 5 only with 4 of them (98.0 to 99.5 % met)."))
      << verdict_words(c);
}

TEST(Verdict, EqualPoliciesHaveNoDifferences) {
  EXPECT_EQ(difference_words(outcome({"a", 950, 4}), outcome({"b", 950, 4})), "");
  RunResult busy = outcome({"a", 950, 14}), idle = busy;
  const auto move_hour = [](RunResult& r, GpuState to) {
    r.gpu_ns[0] -= 3'600'000'000'000;
    r.gpu_ns[static_cast<std::size_t>(to)] += 3'600'000'000'000;
  };
  move_hour(busy, GpuState::busy);
  move_hour(idle, GpuState::idle);
  EXPECT_EQ(difference_words(busy, idle), "the same number of GPU-hours: 1.0 h more busy, 1.0 h less idle");
}

}  // namespace
}  // namespace capstan::experiment
