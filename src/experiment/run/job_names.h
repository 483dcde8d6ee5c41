#pragma once

#include <cstdint>
#include <string>

#include "model/names.h"
#include "model/snapshot.h"
#include "sim/cluster/cluster_config.h"

namespace capstan::experiment {

/// Returns the names of the simulated batch jobs, by gang: "eval 7" is a job of the class `eval`, and 7 is its number
/// in the order in which all jobs arrive, from 0. A job that restarts has another gang and the same name. Replicas have
/// no entry: their name follows from their service.
model::Names job_names(const model::Snapshot& snapshot, const sim::ClusterConfig& config);

}  // namespace capstan::experiment
