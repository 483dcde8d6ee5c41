#pragma once

#include <chrono>
#include <string>

#include "base/time.h"
#include "manifest/fields.h"
#include "workload/jobs.h"

// Readers of the sizes, the computing times and the arrivals of batch jobs, which scenarios and the specs of plans
// state in the same way. An error goes into the list of errors, and reading goes on with a default.
namespace capstan::scenario {

/// The longest computing time and the latest arrival of a job.
inline constexpr Duration kLongestJobWork = std::chrono::hours(8784);

/// Reads the pods of a job, a number or the bounds of an elastic job, and the GPUs of each pod.
void read_job_size(manifest::Fields& fields, workload::JobSize& size);

/// Reads `sizes`, or one size from `pods` and `gpus_per_pod`.
/// @param owner  path of the mapping, for messages: "jobs.0"
void read_job_sizes(manifest::Fields& fields, const std::string& owner, workload::JobLoad& load,
                    manifest::ErrorList& errors);

/// Reads a length of time, or a distribution of lengths.
void read_job_work(const manifest::Node& node, const std::string& owner, workload::JobWork& work,
                   manifest::ErrorList& errors);

/// Reads when jobs arrive: `count` jobs together, or jobs one by one at a rate.
/// @param what  path of the mapping, for messages: "jobs.0.arrivals"
/// @return true if the mapping states the end of the arrivals
bool read_job_arrivals(const manifest::Node& node, const std::string& what, workload::JobLoad& load,
                       manifest::ErrorList& errors);

}  // namespace capstan::scenario
