#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "kube/pod_view.h"
#include "model/gang_spec.h"

namespace capstan::op {

/// Largest number of alternatives of the node affinity of a gang. Further ones are left out, so that fewer nodes are
/// admitted.
inline constexpr std::size_t kMaxAlternatives = 64;

/// Returns true if the pods ask for the same resources and may run on the same nodes.
bool have_equal_request(const kube::PodSpec& a, const kube::PodSpec& b);

/// Returns the number of the pod set of each pod (model::Pod::set). The pods of a set ask for the same resources and
/// may run on the same nodes. The sets with the most GPUs per pod come first, then those with the earliest pod. If
/// the pods have more than model::kMaxPodSets different requests, all of them form one set.
/// @param gpus  GPUs of each pod
std::vector<std::uint8_t> pod_sets_of(std::span<const kube::Pod* const> pods, std::span<const MilliGpu> gpus);

/// Returns the request of one pod that stands for all pods, for example of a gang with too many pod sets: it asks for
/// the largest amount of each resource, and it is admitted only by nodes that admit every pod. Other fields are those
/// of the first pod.
/// @param pods  at least one
kube::PodSpec request_for_all(std::span<const kube::Pod* const> pods);

}  // namespace capstan::op
