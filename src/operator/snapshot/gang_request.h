#pragma once

#include <cstddef>
#include <span>

#include "kube/pod_view.h"

namespace capstan::op {

/// Most alternatives of the node affinity of a gang. Further ones are left out, so that fewer nodes are admitted.
inline constexpr std::size_t kMaxAlternatives = 64;

/// Returns the request of one pod that stands for all pods of a gang, for example a leader and its workers: it asks for
/// the largest amount of each resource, and it is admitted only by nodes that admit every pod. Other fields are those
/// of the first pod.
/// @param pods  at least one
kube::PodSpec request_for_all(std::span<const kube::Pod* const> pods);

}  // namespace capstan::op
