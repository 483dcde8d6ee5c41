#pragma once

#include <optional>
#include <span>
#include <vector>

#include "manifest/fields.h"
#include "scenario/scenario.h"
#include "settings/inference_scaler.h"

namespace capstan::scenario {

/// Returns the only InferenceScaler of the documents. Returns null if there is none or more than one, or if the
/// documents also have another autoscaler.
const manifest::Node* find_inference_scaler(std::span<const manifest::Node> documents);

/// An InferenceScaler in the terms of a scenario: its policy, and its bounds by service.
struct FittedScaler {
  decide::scale::Policy policy;
  std::vector<settings::ReplicaBounds> bounds;  ///< by service of the endpoint
  std::optional<model::RoleLimits> role_limits;
};

/// Reads an InferenceScaler and fits it to an endpoint of the scenario. Model, SLO and roles must be those of the
/// endpoint; an error names what differs. Returns nothing after an error.
std::optional<FittedScaler> fit_inference_scaler(const manifest::Node& root, const EndpointSpec& endpoint,
                                                 const Scenario& scenario, manifest::ErrorList& errors);

}  // namespace capstan::scenario
