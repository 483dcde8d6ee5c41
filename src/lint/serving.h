#pragma once

#include "lint/pods.h"
#include "lint/pools.h"

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

/// Returns true if the input shows that the nodes of a pool run servers: the name or a label of the pool says so, or a
/// workload in its folder serves a model on GPUs. A pool whose name or labels name batch work or tests does not count.
bool is_for_serving(const Pool& pool, const Set& set);

/// Returns true if a GPU workload in the folder of a pool may run on its nodes: its pods tolerate the taints, and its
/// node selector agrees with the pool's name and labels. The taint nvidia.com/gpu is ignored, because a missing
/// toleration of it is a mistake.
bool has_gpu_workload(const Pool& pool, const Set& set);

/// Returns true if the pool allows spot nodes, or if its name or labels say that its pods may be interrupted.
bool is_marked_interruptible(const Pool& pool);

}  // namespace capstan::lint
