#include "plan/pools/mig_table.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(PlanMigTable, AGpuKindHasTheRowOfItsMemorySize) {
  struct Row {
    std::string_view gpu, product;
  };
  for (const Row& row :
       {Row{"h100_sxm", "H100 80GB"}, Row{"h100-3g.40gb", "H100 80GB"}, Row{"a100_sxm_40g", "A100 40GB"},
        Row{"a100_sxm", "A100 80GB"}, Row{"h200_sxm", "H200 141GB"}, Row{"rtx_pro_6000", "RTX PRO 6000 96GB"}}) {
    ASSERT_NE(mig_product_of(row.gpu), nullptr) << row.gpu;
    EXPECT_EQ(mig_product_of(row.gpu)->product, row.product);
  }
  for (const char* gpu : {"l4", "l40s", "t4", "a10g", "mi300x", ""}) EXPECT_EQ(mig_product_of(gpu), nullptr) << gpu;
}

}  // namespace
}  // namespace capstan::plan
