#include "model/resource_number.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(ResourceNumber, AmountsAreFoundByTheirNumber) {
  const Resources amounts{.cpu_milli = 1, .memory_mib = 2, .storage_mib = 3, .pod_slots = 4, .extended = {5, 6}};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(amount_at(amounts, i), static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(amount_at(amounts, 6), 0) << "an extended resource that is not stated";
}

TEST(ResourceNumber, TheScarcestResourceHoldsTheAmountTheFewestTimes) {
  struct Row {
    Resources amount, available;
    std::int64_t times;
    std::optional<std::size_t> scarcest;
  };
  const Row rows[] = {
      {{}, {}, 8, {}},
      {{.cpu_milli = 2}, {.cpu_milli = 16}, 8, {}},
      {{.cpu_milli = 2}, {.cpu_milli = 15}, 8, 0},
      {{.cpu_milli = 2, .memory_mib = 1}, {.cpu_milli = 8, .memory_mib = 2}, 8, 1},
      {{.pod_slots = 1}, {.pod_slots = -3}, 1, 3},
      {{.extended = {0, 1}}, {.extended = {7}}, 1, 5},
  };
  for (const Row& row : rows) EXPECT_EQ(scarcest_resource(row.amount, row.available, row.times), row.scarcest);
}

}  // namespace
}  // namespace capstan::model
