#pragma once

#include <cstddef>

#include "base/known_row.h"
#include "model/gang.h"
#include "sim/cluster/cluster_config.h"

namespace capstan::sim {

/// Returns the position of a gang's service or class of jobs in `ClusterMeter::by_user`.
inline std::size_t gpu_user(const ClusterConfig& config, const model::Gang& gang) {
  if (gang.service.valid()) return gang.service.value;
  return config.catalog->services.size() + known_row(config.jobs, gang.ordinal).job_class;
}

}  // namespace capstan::sim
