#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

constexpr std::string_view kLoadSpecText = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s, tpot: 40ms}
)";

/// Returns the errors of the spec with these changes; nothing if it is valid.
std::string load_errors(const std::vector<std::string>& sets) {
  const SpecResult spec = parse_plan_spec(kLoadSpecText, "s.yaml", sets);
  return spec ? "" : spec.error().text();
}

TEST(ReadSpecLoad, TurnsConcurrencyIntoARate) {
  const std::vector<std::string> sets = {"services.0.load={concurrency: 100, prompt_tokens: 1000, answer_tokens: 301}"};
  const SpecResult spec = parse_plan_spec(kLoadSpecText, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  const auto rate = std::ranges::find(spec->defaults, "services.chat.load.requests_per_second", &DefaultUsed::path);
  ASSERT_NE(rate, spec->defaults.end());
  EXPECT_TRUE(rate->why.starts_with("concurrency 100 / ")) << rate->why;
  EXPECT_GT(spec->services.front().load.requests_per_s, 100 / 13.0);  // 1 s and 300 steps of at most 40 ms
  EXPECT_LT(spec->services.front().load.requests_per_s, 100 / 4.0);   // no step of the 70B takes less than 10 ms
}

TEST(ReadSpecLoad, TakesAProfileOrATrace) {
  const std::vector<std::string> sets = {"services.0.load={profile: azure-hour, scale: 0.5}"};
  const SpecResult spec = parse_plan_spec(kLoadSpecText, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->services.front().load.source, LoadSpec::Source::profile);
  EXPECT_EQ(spec->services.front().load.from, "azure-hour");
  EXPECT_EQ(spec->services.front().load.scale, 0.5);
}

TEST(ReadSpecLoad, ReportsMistakes) {
  const struct {
    const char* set;
    const char* message;
  } cases[] = {
      {"services.0.load={trace: a.csv, profile: azure-hour}",
       "states a trace and a profile, expected one of trace, profile and prometheus"},
      {"services.0.load={trace: a.csv, prometheus: {url: 'http://p'}}", "states a trace and a Prometheus server"},
      {"services.0.load={prometheus: {url: 'http://p'}, requests_per_second: 3}",
       "leave out requests_per_second or prometheus"},
      {"services.0.load={profile: azure-day}", "azure-day"},
      {"services.0.load={profile: azure-hour, burst_factor: 2}", "leave out burst_factor or profile"},
      {"services.0.load={prompt_tokens: many}",
       "expected a number of tokens up to 16777216 or a mapping with median, sigma and longest"},
      {"services.0.load={prompt_tokens: 0}", "expected a number of tokens up to 16777216 or a mapping"},
      {"services.0.load={prompt_tokens: {median: 100, longest: 50}}",
       "longest 50 is 50 below the median 100; the nearest that is possible is longest: 100 or median: 50"},
      {"services.0.load={burst_length: 30m, burst_every: 10m}",
       "a burst of 30m is 20m1s too long, because the next one begins 10m after its start; the nearest that is "
       "possible "
       "is burst_length: 9m59s or burst_every: 30m1s, or for a load that is always high a higher requests_per_second"},
      {"services.0.load={burst_length: 10m, burst_every: 10m}", "a burst of 10m is 1s too long"},
      {"services.0.load={burst_length: 5s, burst_every: 1s}",
       "the nearest that is possible is burst_every: 6s, or for"},
  };
  for (const auto& c : cases) {
    const std::string found = load_errors({c.set});
    EXPECT_NE(found.find(c.message), std::string::npos) << c.set << found;
  }
}

TEST(ReadSpecLoad, RefusesATraceWithoutRows) {
  const std::string path = ::testing::TempDir() + "plan_empty_trace.csv";
  std::ofstream(path) << "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  const std::vector<std::string> sets = {"services.0.load={trace: " + path + "}"};
  const SpecResult spec = parse_plan_spec(kLoadSpecText, "s.yaml", sets);
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind, ErrorKind::infeasible);
  EXPECT_NE(spec.error().text().find("services.chat.load: the trace " + path +
                                     " has 0 requests, expected at least 1; add a row for each recorded request, or "
                                     "state a generated load: `load: {requests_per_second: 1}`"),
            std::string::npos)
      << spec.error().text();
}

TEST(ReadSpecLoad, RefusesKeysOfAGeneratedLoadNextToARecordedOne) {
  const std::string found = load_errors({"services.0.load={profile: azure-hour, requests_per_second: 3}"});
  EXPECT_NE(found.find("services.chat.load.requests_per_second belongs to a generated load, and the requests of this "
                       "one come from `profile`; leave out requests_per_second or profile"),
            std::string::npos)
      << found;
}

TEST(ReadSpecLoad, KnowsThePlaceOfALoadThatIsStated) {
  const SpecResult stated =
      parse_plan_spec(std::string(kLoadSpecText) + "  load: {requests_per_second: 3}\n", "folder/s.yaml");
  ASSERT_TRUE(stated) << stated.error().text();
  EXPECT_EQ(stated->services.front().load.place, "folder/s.yaml:6:9");
  EXPECT_EQ(parse_plan_spec(kLoadSpecText, "s.yaml")->services.front().load.place, "");
}

TEST(ReadSpecLoad, NamesTheLineThatNamesAMissingTrace) {
  const SpecResult spec =
      parse_plan_spec(std::string(kLoadSpecText) + "  load: {trace: nowhere.csv}\n", "folder/s.yaml");
  ASSERT_FALSE(spec);
  const std::string found = spec.error().text();
  EXPECT_TRUE(found.starts_with("folder/nowhere.csv: cannot be opened")) << found;
  EXPECT_NE(found.find("(services.chat.load names this file at folder/s.yaml:6)"), std::string::npos) << found;
}

TEST(ReadSpecLoad, AProfileIsAFileNextToTheSpecOrBundled) {
  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "load-own.csv") << "capstan-profile,1\nduration_ms,60000\nminute,0,5\ncell,1,1,1,1,1,1,1\n";
  const SpecResult spec =
      parse_plan_spec(std::string(kLoadSpecText) + "  load: {profile: load-own.csv}\n", folder + "s.yaml");
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->services.front().load.from, folder + "load-own.csv");
}

}  // namespace
}  // namespace capstan::plan
