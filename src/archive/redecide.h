#pragma once

#include <vector>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"

namespace capstan::archive {

/// What every layer says about a saved state.
struct Redecided {
  std::vector<decide::scale::Decision> scale;  ///< by service
  decide::place::Decision place;
  decide::provision::Decision provision;
};

/// Decides once more, as the loop did or would have done at that moment: the same functions in the same order.
Redecided redecide(const SavedState& state);

}  // namespace capstan::archive
