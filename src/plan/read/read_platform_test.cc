#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/read/read_spec.h"

namespace capstan::plan {
namespace {

constexpr std::string_view kPlatformSpec = R"(services:
- name: chat
  model: meta-llama/Llama-3.3-70B-Instruct
  dtype: fp8
  slo: {ttft_p99: 2s, tpot: 40ms}
)";

/// Returns the errors of the spec with these changes; nothing if it is valid.
std::string platform_errors(const std::vector<std::string>& sets) {
  const SpecResult spec = parse_plan_spec(kPlatformSpec, "s.yaml", sets);
  return spec ? "" : spec.error().text();
}

TEST(ReadSpecPlatform, GivesEachKindOfTenantItsPriority) {
  const std::vector<std::string> sets = {"tenants=[{name: a}, {name: b, kind: training}, {name: c, kind: batch}]"};
  const SpecResult spec = parse_plan_spec(kPlatformSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  ASSERT_EQ(spec->tenants.size(), 3u);
  EXPECT_EQ(spec->tenants[0].priority, 100);
  EXPECT_EQ(spec->tenants[1].priority, 50);
  EXPECT_EQ(spec->tenants[2].priority, 25);
  EXPECT_EQ(spec->services.front().tenant, "a");
}

TEST(ReadSpecPlatform, ReadsLimitsStaffAndWhatIsAskedFor) {
  const std::vector<std::string> sets = {
      "limits={gpus: 32, usd_per_hour: 300}", "staff={usd_per_year: 200000, share: 25%}",
      "asked={scale_on: DCGM_FI_DEV_GPU_UTIL, consolidation: WhenEmptyOrUnderutilized, gang_scheduling: false}"};
  const SpecResult spec = parse_plan_spec(kPlatformSpec, "s.yaml", sets);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->limits.gpus, 32);
  EXPECT_EQ(spec->limits.per_hour, MicroUsd{300'000'000});
  EXPECT_EQ(spec->staff.share_ppm, 250'000u);
  EXPECT_EQ(spec->asked.scale_on, "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(spec->asked.consolidation, "WhenEmptyOrUnderutilized");
  EXPECT_TRUE(spec->asked.declines_gang_scheduling);
}

TEST(ReadSpecPlatform, ReportsMistakes) {
  const struct {
    const char* set;
    const char* message;
  } cases[] = {
      {"tenants=[]", "0 tenants own the services, 1 fewer than are needed; the nearest that is possible is one"},
      {"tenants=[{kind: batch}]", "tenants lacks \"name\""},
      {"tenants=[{name: a}, {name: a}]", "is the name of two tenants"},
      {"tenants=[{name: a, gpu_quota: 16, gpu_limit: 8}]",
       "tenants.a: gpu_quota 16 is 8 above gpu_limit 8; the nearest that is possible is gpu_quota: 8 or gpu_limit: 16"},
      {"limits={gpus: 0}", "limits.gpus"},
      {"staff={share: much}", "staff.share"},
      {"asked={scale_on: cpu}", "expected queue, kv, latency or goodput"},
      {"asked={consolidation: Sometimes}", "expected WhenEmpty or WhenEmptyOrUnderutilized"},
  };
  for (const auto& c : cases) {
    const std::string found = platform_errors({c.set});
    EXPECT_NE(found.find(c.message), std::string::npos) << c.set << found;
  }
}

}  // namespace
}  // namespace capstan::plan
