#pragma once

#include <cstdint>

namespace capstan::decide {

/// The amount of detail that a decision about pods or nodes keeps for explanations. It does not affect the plan.
enum class Detail : std::uint8_t {
  reasons,     ///< the reasons of the plan
  candidates,  ///< also the places and purchases that were considered, which takes time on a large cluster
};

/// States whether the invariants of a layer are checked after each of its passes, which is slow.
enum class Verify : std::uint8_t { no, yes };

/// Options of placement and provisioning: the details that a decision keeps, and whether its invariants are checked.
/// They do not affect the plan.
struct Options {
  Detail detail = Detail::reasons;
  Verify verify = Verify::no;
};

}  // namespace capstan::decide
