#include "manifest/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace capstan::manifest {
namespace {

struct QuantityRow {
  std::string_view text;
  std::optional<std::int64_t> milli;
};

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

constexpr QuantityRow kRows[] = {
    {"8", 8'000},
    {"0", 0},
    {"500m", 500},
    {"1.5", 1'500},
    {".5", 500},
    {"2e3", 2'000'000},
    {"5E-1", 500},
    {"2E", kLargest},
    {"1k", 1'000'000},
    {"1.5Gi", 1'610'612'736'000},
    {"64Ki", 65'536'000},
    {"16T", 16'000'000'000'000'000},
    {"1u", 1},
    {"1500u", 2},
    {"-3", -3'000},
    {"99999999999999999999", kLargest},
    {"0.00000000000000000000001", 1},
    {"100Ei", kLargest},
    {"", {}},
    {"-", {}},
    {"1.2.3", {}},
    {"5 Gi", {}},
    {"Gi", {}},
    {"1e", {}},
    {"1e9999", {}},
    {"1GiB", {}},
};

TEST(Quantity, ReadsKubernetesQuantitiesInThousandths) {
  for (const QuantityRow& row : kRows) EXPECT_EQ(read_quantity_milli(row.text), row.milli) << row.text;
}

}  // namespace
}  // namespace capstan::manifest
