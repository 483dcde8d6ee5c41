#include "decide/place/passes.h"

#include <array>

namespace capstan::decide::place {

std::span<const Pass<Policy::Kind, Context>> passes() {
  using Kind = Policy::Kind;
  static constexpr std::array<Pass<Kind, Context>, 7> kPasses = {{
      {"bind_pods", Kind::first_fit, bind_pods},
      {"bind_gangs", Kind::gang, bind_gangs},
      {"evict_broken", Kind::gang, evict_broken},
      {"refuse_oversized", Kind::gang, refuse_oversized},
      {"state_shortfalls", Kind::gang, state_shortfalls},
      {"nominate_claims", Kind::gang, nominate_claims},
      {"reserve_planned", Kind::gang, reserve_planned},
  }};
  return kPasses;
}

std::vector<std::string_view> pass_names(Policy::Kind kind) { return names_of(passes(), kind); }

}  // namespace capstan::decide::place
