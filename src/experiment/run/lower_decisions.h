#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "control/action_log.h"
#include "control/controller.h"
#include "model/catalog.h"

// The decisions of a run about pods and nodes, for the decision log of a report.
namespace capstan::experiment {

/// One action of the layers below scaling, or the reason why a gang waits.
struct LowerDecision {
  using Layer = control::LoggedAction::Layer;

  Instant at;
  Layer layer = Layer::place;
  model::GangId gang{};  ///< gang that it is about; none: no gang, or several
  GpuCount gpus = 0;     ///< GPUs that it binds or buys, or for which the gang waits; 0: not known
  std::string object{};  ///< object for `capstan explain`: "gang 7"; empty: none
  std::string action{};  ///< the action and its reason, or the reason for the wait, in one sentence without a full stop
  std::string arithmetic{};  ///< candidates of the decision; empty: none are known
};

/// Returns the decisions about pods and nodes that the controller has logged, with their candidates.
/// @param first_action  number in the log of the first action that is returned
std::vector<LowerDecision> lower_decisions(const control::Controller& controller, const model::Catalog& catalog,
                                           std::uint64_t first_action);

/// Returns the reason why a gang waits, with the candidates of the last decision.
/// @param sentence  reason of placement
/// @param supply    reason of provisioning; empty: none
LowerDecision waiting_decision(const control::Controller& controller, const model::Catalog& catalog, Instant at,
                               model::GangId gang, const std::string& sentence, const std::string& supply);

}  // namespace capstan::experiment
