#pragma once

#include "lint/pods.h"

// Tells which pods take requests. Such pods need probes, time to end and a disruption budget.
namespace capstan::lint {

/// Returns true for pods without requests: pods that only reserve room or sleep, image pre-pullers, load generators.
bool is_placeholder(const Object& object, const Pod& pod);

/// Returns the Service that sends requests to a pod; null if the folder has none.
const Object* service_of(const Object& object, const Pod& pod, const Set& set);

/// Returns true if a port, a probe, an engine or a Service of its pod shows that a container takes requests.
bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set);

}  // namespace capstan::lint
