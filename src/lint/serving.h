#pragma once

#include "lint/pods.h"

// Which pods have requests, and so need probes, time to end and a disruption budget.
namespace capstan::lint {

/// Serves no requests: a balloon of pause containers, a pod that sleeps, a pre-puller of images, a load generator.
bool is_placeholder(const Object& object, const Pod& pod);

/// The Service that sends requests to a pod; null where the folder has none.
const Object* service_of(const Object& object, const Pod& pod, const Set& set);

/// Does anything show that a container takes requests: a port, a probe, an engine, a Service of its pod?
bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set);

}  // namespace capstan::lint
