#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "plan/against/existing_object.h"

// Facts that an existing autoscaler states about its replicas and its queries, for its simulation.
namespace capstan::plan {

/// Returns the most replicas that an autoscaler may set, one value for each role of an InferenceScaler. A ScaledObject
/// without a maximum has 100, the default of KEDA. Returns nothing for an HPA without its required maximum.
std::vector<ReplicaCount> stated_maxima(const ExistingObject& scaler);

/// Returns the values that the queries of an autoscaler ask for, by label: `app="chat"` of a PromQL query, and the
/// `matchLabels` of a metric selector. Of several values of a label, the first one counts.
std::map<std::string, std::string> queried_labels(const ExistingObject& scaler);

}  // namespace capstan::plan
