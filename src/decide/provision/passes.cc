#include "decide/provision/passes.h"

#include <array>

namespace capstan::decide::provision {

std::span<const Pass<Policy::Kind, Context>> passes() {
  using Kind = Policy::Kind;
  static constexpr std::array<Pass<Kind, Context>, 7> kPasses = {{
      {"release_groups", {}, release_groups},
      {"buy_minimum", {}, buy_minimum},
      {"buy_for_pods", Kind::per_pod, buy_for_pods},
      {"buy_for_gangs", Kind::group, buy_for_gangs},
      {"finish_replacements", {}, finish_replacements},
      {"give_back_empty", {}, give_back_empty},
      {"give_back_underutilized", {}, give_back_underutilized},
  }};
  return kPasses;
}

std::vector<std::string_view> pass_names(Policy::Kind kind) { return names_of(passes(), kind); }

}  // namespace capstan::decide::provision
