#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/reason.h"
#include "model/snapshot.h"

namespace capstan::ports {

/// The result of an action. `unknown` means that the action may or may not have taken effect; the next snapshot shows
/// which.
struct Outcome {
  enum class Kind : std::uint8_t { applied, refused, unknown };
  model::ActionToken token;
  Kind kind = Kind::unknown;
  model::Reason why;  ///< reason of a refusal
};

/// One observation of the world: the snapshot, the changes since the previous one, and the outcomes that have arrived.
struct Observation {
  model::Snapshot snapshot;
  model::Delta delta;
  std::vector<Outcome> outcomes;
};

/// The interface between the control loop and a world: the simulator or a cluster. The loop does not know which of them
/// it controls. No call blocks: the outcome of a submitted action comes with a later observation.
class World {
 public:
  virtual ~World() = default;
  virtual Instant now() const = 0;
  virtual Observation observe() = 0;
  /// Submits an action and returns its token; no token is used twice. A refusal is an outcome, not an error of this
  /// call.
  virtual model::ActionToken submit(const model::Action& action) = 0;
};

}  // namespace capstan::ports
