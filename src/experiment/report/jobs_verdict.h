#pragma once

#include <string>

#include "experiment/compare.h"

// The sentences about a scenario that has jobs and no service.
namespace capstan::experiment {

/// Returns the sentences below the table. They name the policy that comes first, its cost and the jobs that ended under
/// it. If it holds the goals, the next policy follows; otherwise they say by how much it misses them.
std::string jobs_verdict(const Comparison& comparison);

/// Returns how the jobs of `a` differ from those of `b`: "2 more jobs ended, 1 fewer job late". Empty if they are
/// alike.
std::string job_terms(const RunResult& a, const RunResult& b);

}  // namespace capstan::experiment
