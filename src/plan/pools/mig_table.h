#pragma once

#include <string_view>

#include "lint/facts.h"

namespace capstan::plan {

/// Returns the row of data/lint/mig.csv of a GPU kind: "H100 80GB" for "h100_sxm" and for "h100-3g.40gb"; null if MIG
/// cannot divide the GPU, or if the program knows no row for its kind.
const lint::MigProduct* mig_product_of(std::string_view gpu);

}  // namespace capstan::plan
