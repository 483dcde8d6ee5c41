#pragma once

#include <vector>

#include "archive/saved_state.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "fleet/index.h"

namespace capstan::archive {

/// The decisions of every layer from a saved state.
struct RepeatedDecisions {
  std::vector<decide::scale::Decision> scale;  ///< decisions by service
  decide::place::Decision place;
  decide::provision::Decision provision;
  control::Memory memory;  ///< memory after these decisions
};

/// Decides again from a saved state, with the same functions in the same order as the loop. The decisions keep their
/// candidates. A layer that was not due (`SavedState::due`) gives its reasons at that moment, and no action.
RepeatedDecisions redecide(const SavedState& state);
/// Decides with an index that exists already.
/// @param index  index of the state's snapshot; unchanged after the call
RepeatedDecisions redecide(const SavedState& state, fleet::Index& index);

}  // namespace capstan::archive
