#pragma once

#include <string>

#include "experiment/compare.h"

// The sentences about a scenario that has jobs and no service.
namespace capstan::experiment {

/// Returns the sentences below the table. They name the policy that comes first, the jobs that ended under it and their
/// cost, and the next policy. If a goal is missed, they say by how much.
std::string jobs_verdict(const Comparison& comparison);

/// Returns how the jobs of `a` differ from those of `b`: "2 more jobs ended, 1 fewer late". Empty if they are alike.
std::string job_terms(const RunResult& a, const RunResult& b);

}  // namespace capstan::experiment
