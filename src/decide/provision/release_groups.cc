#include <algorithm>
#include <iterator>

#include "decide/provision/passes.h"

namespace capstan::decide::provision {

void release_groups(Context& context) {
  std::ranges::copy(context.releases, std::back_inserter(context.decision.plan.actions));
}

}  // namespace capstan::decide::provision
