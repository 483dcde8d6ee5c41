#pragma once

#include "lint/pods.h"

// Determines which pods receive client requests. Such pods need probes, a grace period and a PodDisruptionBudget.
namespace capstan::lint {

/// Returns true for a pod that receives no client requests: a pod that only reserves a GPU or sleeps, an image
/// pre-puller, a load generator.
bool is_placeholder(const Object& object, const Pod& pod);

/// Returns true if a volume of the pod outlives it, so that it may hold the model when the pod starts.
bool has_lasting_volume(const Object& object, const Pod& pod);

/// Returns the Service that sends requests to a pod; null if the folder has none.
const Object* service_of(const Object& object, const Pod& pod, const Set& set);

/// Returns true if an engine, or a word in the name, the images or the commands of an object, shows that it serves a
/// model.
bool serves_model(const Object& object);

/// Returns true if a port, a probe, an engine or a Service of its pod shows that a container receives client requests.
bool takes_requests(const Object& object, const Pod& pod, const Value& container, const Set& set);

}  // namespace capstan::lint
