#pragma once

#include <string>

#include "model/catalog.h"

namespace capstan::op {

/// What Capstan's own policy begins with about a target's engine.
struct EnginePrior {
  bool known = false;
  std::string reason;   ///< a word for machines
  std::string message;  ///< which row of the engine table; or what is not in it, and what is done then
};

/// @param gpu_known  the variant's GPU kind is stated or told by nodes
EnginePrior engine_prior(const model::Catalog& catalog, const model::Variant& variant, bool gpu_known);

}  // namespace capstan::op
