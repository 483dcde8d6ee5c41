#pragma once

#include <vector>

#include "plan/against/match.h"

// PodMonitors and ServiceMonitors, which select by labels what they scrape.
namespace capstan::plan {

bool is_monitor(const Manifest& planned);

/// Returns true if an existing PodMonitor or ServiceMonitor scrapes what the planned one scrapes. Either both are of
/// one kind and select the same labels, or the planned PodMonitor selects the pods of a planned workload and the
/// existing monitor the pods of the workload that is paired with it. Two monitors of the same pods would count each
/// replica twice.
/// @param matches   pairs of objects, in which the workloads are paired already
/// @param existing  all objects; the Services among them lead a ServiceMonitor to its pods
bool scrapes_the_same(const Manifest& planned, const ExistingObject& monitor, const std::vector<ObjectMatch>& matches,
                      const std::vector<ExistingObject>& existing);

/// Returns the part of a planned PodMonitor that an existing ServiceMonitor can have: the list of pod labels to copy to
/// the series.
Manifest part_for_service_monitor(const Manifest& planned);

}  // namespace capstan::plan
