#include "plan/pools/mig_table.h"

#include <array>
#include <utility>

#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

// Products of data/lint/mig.csv, by the short name of the GPU kind. A kind without a row has no MIG, or is not in that
// file.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kMigProducts = {
    {{"a30", "A30 24GB"},
     {"a100", "A100 80GB"},
     {"a100-pcie", "A100 80GB"},
     {"a100-40g", "A100 40GB"},
     {"h100", "H100 80GB"},
     {"h100-nvl", "H100 NVL 94GB"},
     {"h200", "H200 141GB"},
     {"b200", "B200 180GB"},
     {"gb200", "GB200 186GB"},
     {"b300", "B300 269GB"},
     {"gb300", "GB300 278GB"},
     {"rtx-pro-6000", "RTX PRO 6000 96GB"}}};

}  // namespace

const lint::MigProduct* mig_product_of(std::string_view gpu) {
  const std::string name = gpu_short_name(whole_gpu_of(gpu));
  for (const auto& [short_name, product_name] : kMigProducts) {
    if (name != short_name) continue;
    for (const lint::MigProduct& product : lint::mig_products()) {
      if (product.product == product_name) return &product;
    }
  }
  return nullptr;
}

}  // namespace capstan::plan
