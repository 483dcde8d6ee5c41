#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/plan.h"
#include "model/reason.h"
#include "model/snapshot.h"

namespace capstan::ports {

/// What became of an action. `unknown` is an answer too: it may or may not have happened, and must be read back.
struct Outcome {
  enum class Kind : std::uint8_t { applied, refused, unknown };
  model::ActionToken token;
  Kind kind = Kind::unknown;
  model::Reason why;  ///< of a refusal
};

/// One look at the world: the snapshot, what changed since the last look, and the outcomes that have arrived.
struct Observation {
  model::Snapshot snapshot;
  model::Delta delta;
  std::vector<Outcome> outcomes;
};

/// What the control loop needs from a world. The simulator is one, a cluster is the other; the loop cannot tell which.
/// Nothing blocks: an action is submitted and its outcome comes with a later observation.
class World {
 public:
  virtual ~World() = default;
  virtual Instant now() const = 0;
  virtual Observation observe() = 0;
  /// Never refuses by itself: a refusal is an outcome. Tokens are never used twice.
  virtual model::ActionToken submit(const model::Action& action) = 0;
};

}  // namespace capstan::ports
