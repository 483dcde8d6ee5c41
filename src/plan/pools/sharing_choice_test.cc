#include "plan/pools/sharing_choice.h"

#include <gtest/gtest.h>

#include "plan/pools/mig_table.h"
#include "plan/sections/testing.h"

namespace capstan::plan {
namespace {

using Kind = TenantSpec::Kind;

RoleFleet shared_fleet(const char* gpu, std::int64_t gib, std::int64_t tp = 1) {
  RoleFleet role = testing::sample_role(testing::sample_machine("m", gpu, 8), tp, 1, 4);
  role.engine.gpu_memory = Bytes{gib << 30};
  return role;
}

TEST(PlanSharingChoice, OnlyASliceWithStepTimesServes) {
  struct Row {
    const char* name;
    ServiceSpec service;
    Kind kind;
    RoleFleet role;
    Sharing expected;
    const char* profile;
    std::int64_t per_gpu;
  };
  const ServiceSpec alone{};
  const ServiceSpec small{.may_share_gpu = true, .sharing_memory_gib = 18};
  const ServiceSpec large{.may_share_gpu = true, .sharing_memory_gib = 50};
  const ServiceSpec unknown{.may_share_gpu = true};
  for (const Row& row :
       {Row{"a slice of the spec", small, Kind::production, shared_fleet("h100-3g.40gb", 40), Sharing::slice, "3g.40gb",
            2},
        Row{"sharing is not allowed", alone, Kind::production, shared_fleet("h100_sxm", 80), Sharing::whole, "", 1},
        Row{"two GPUs work together", small, Kind::production, shared_fleet("h100_sxm", 80, 2), Sharing::whole, "", 1},
        Row{"the memory is unknown", unknown, Kind::batch, shared_fleet("h100_sxm", 80), Sharing::whole, "", 1},
        Row{"no step times", small, Kind::production, shared_fleet("h100_sxm", 80), Sharing::slice_unmeasured,
            "1g.20gb", 4},
        Row{"no slice is large enough", large, Kind::batch, shared_fleet("h100_sxm", 80), Sharing::whole, "", 1},
        Row{"no MIG and an SLO", small, Kind::production, shared_fleet("l40s", 48), Sharing::whole, "", 1},
        Row{"no MIG and batch work", small, Kind::batch, shared_fleet("l40s", 48), Sharing::mps, "", 2},
        Row{"no MIG and a small GPU", small, Kind::batch, shared_fleet("l4", 24), Sharing::whole, "", 1}}) {
    const SharingChoice choice = choose_sharing(row.service, row.kind, row.role);
    EXPECT_EQ(choice.sharing, row.expected) << row.name;
    EXPECT_EQ(choice.profile, row.profile) << row.name;
    EXPECT_EQ(choice.per_gpu, row.per_gpu) << row.name;
    EXPECT_FALSE(choice.why.empty()) << row.name;
  }
}

TEST(PlanSharingChoice, ThePlanNamesTheStepTimesThatAreMissing) {
  const ServiceSpec small{.may_share_gpu = true, .sharing_memory_gib = 18};
  EXPECT_EQ(choose_sharing(small, Kind::production, shared_fleet("h100_sxm", 80)).why,
            "1g.20gb is the smallest slice with 18 GiB, and a GPU holds 4 of it; a slice is slower than a GPU by an "
            "unknown factor, so add its step times as GPU kind h100-1g.20gb to step_times");
}

TEST(PlanSharingChoice, TheSmallestSliceIsTheOneOfWhichAGpuHoldsMost) {
  const lint::MigProduct& h100 = *mig_product_of("h100_sxm");
  struct Row {
    std::int64_t memory_gib;
    std::string_view profile;
  };
  for (const Row& row : {Row{8, "1g.10gb"}, Row{10, "1g.10gb"}, Row{11, "1g.20gb"}, Row{21, "3g.40gb"}, Row{41, ""}})
    EXPECT_EQ(smallest_profile(h100, row.memory_gib), row.profile) << row.memory_gib;
  EXPECT_EQ(smallest_profile(*mig_product_of("a100_sxm_40g"), 10), "1g.10gb");
  EXPECT_EQ(gigabytes_of("3g.40gb"), 40);
  EXPECT_EQ(gigabytes_of("whole"), 0);
}

TEST(PlanSharingChoice, AGpuIsFilledInTurnsWithWhatFits) {
  struct Row {
    std::vector<std::string> profiles;
    std::vector<std::int64_t> counts;
  };
  const lint::MigProduct& h100 = *mig_product_of("h100_sxm");
  for (const Row& row : {Row{{"1g.10gb"}, {7}}, Row{{"3g.40gb"}, {2}}, Row{{"3g.40gb", "1g.10gb"}, {1, 4}},
                         Row{{"3g.40gb", "1g.20gb"}, {1, 2}}, Row{{"7g.80gb", "1g.10gb"}, {1}}}) {
    const lint::MigGeometry geometry = fill_gpu(h100, row.profiles);
    std::vector<std::int64_t> counts;
    for (const auto& part : geometry.parts) counts.push_back(part.count);
    EXPECT_EQ(counts, row.counts) << row.profiles.front();
    EXPECT_TRUE(lint::fits(h100, geometry));
  }
}

}  // namespace
}  // namespace capstan::plan
