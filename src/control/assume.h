#pragma once

#include "control/in_flight.h"
#include "model/snapshot.h"

namespace capstan::control {

/// The snapshot as it will be once the actions in flight have been applied, so that no decision is taken twice and no
/// GPU is given away twice while an answer is on its way. An assumed binding holds its GPUs; an assumed replica count is
/// the one that is wanted; an assumed eviction or termination takes the node or pod out of use at once. Launches are
/// not assumed: claims appear when the world has made them.
class Assumptions {
 public:
  /// Rewrites `snapshot` and adds to `delta` every row that this or the previous assumption touched, so that
  /// index(previous assumed snapshot) + delta == index(this one).
  void apply(const InFlight& in_flight, model::Snapshot& snapshot, model::Delta& delta);

 private:
  model::Delta touched_;  ///< rows that the last call rewrote: they may differ from what is observed now
};

}  // namespace capstan::control
