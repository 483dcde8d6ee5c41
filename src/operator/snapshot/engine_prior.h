#pragma once

#include <string>

#include "model/catalog.h"

namespace capstan::op {

/// The estimate of a target's engine with which Capstan's own policy starts.
struct EnginePrior {
  bool known = false;
  std::string reason;   ///< one word, for the condition of the status
  std::string message;  ///< the row of the engine table, or the missing row and its replacement
};

/// @param gpu_known  the GPU kind of the variant is stated or follows from nodes or from the pod template
EnginePrior engine_prior(const model::Catalog& catalog, const model::Workload& workload, bool gpu_known);

}  // namespace capstan::op
