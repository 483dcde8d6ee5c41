#pragma once

#include <span>

#include "base/time.h"
#include "decide/options.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "fleet/index.h"

namespace capstan::control {

/// The inputs of a decision of each layer, without the memory that the decision updates.
struct ScaleInputs {
  const model::Snapshot& snapshot;
  const decide::scale::WorkloadView& role;
  const decide::scale::Policy& policy;
  Instant now;
};
struct PlaceInputs {
  fleet::Index& index;  ///< index of the snapshot; only its cache may change
  const model::Snapshot& snapshot;
  std::span<const model::PlannedGang> planned;
  const decide::place::Policy& policy;
  Instant now;
  const decide::place::LeavingNodes& leaving;
};
struct ProvisionInputs {
  fleet::Index& index;
  const model::Snapshot& snapshot;
  const decide::place::Decision& placed;
  const decide::provision::Policy& policy;
  Instant now;
};

/// The component that answers the questions of the control loop. An experiment wraps it, to check the decisions or to
/// let another autoscaler answer.
class Decider {
 public:
  virtual ~Decider() = default;
  virtual decide::scale::Decision scale(const ScaleInputs& question, decide::scale::Memory& memory) = 0;
  virtual decide::place::Decision place(const PlaceInputs& question, decide::place::Memory& memory) = 0;
  virtual decide::provision::Decision provision(const ProvisionInputs& question, decide::provision::Memory& memory) = 0;
};

/// Answers with the policies of `decide`.
class PolicyDecider final : public Decider {
 public:
  explicit PolicyDecider(decide::Options options = {}) : options_(options) {}
  decide::scale::Decision scale(const ScaleInputs& question, decide::scale::Memory& memory) override;
  decide::place::Decision place(const PlaceInputs& question, decide::place::Memory& memory) override;
  decide::provision::Decision provision(const ProvisionInputs& question, decide::provision::Memory& memory) override;

 private:
  decide::Options options_;
};

}  // namespace capstan::control
