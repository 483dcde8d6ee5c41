#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "workload/byte_stream.h"
#include "workload/jobs.h"

namespace capstan::workload {

/// A part of a trace of jobs.
struct JobTracePart {
  Duration from{};                             ///< time of the trace at which the part begins
  Duration length = std::chrono::hours(8784);  ///< jobs that arrive later are left out
};

/// Reads the jobs of a trace in the form of Alibaba's cluster-trace-gpu-v2023: a CSV file with the columns `num_gpu`,
/// `gpu_milli`, `creation_time`, `deletion_time` and, possibly empty, `scheduled_time`, in seconds. If they exist, the
/// columns `cpu_milli`, `memory_mib` and `gpu_spec` (kinds of GPU, separated by |) are read, too; other columns are
/// skipped. Each row is a job of one pod. The job computes from its scheduling, or from its creation if it was never
/// scheduled, until its deletion, and for a second at least. `gpu_milli` is the share of the GPU if `num_gpu` is 1.
/// Rows without a GPU are skipped.
/// @return the jobs of the part by time of arrival, counted from the beginning of the part, or an input error with its
///         place
Result<std::vector<JobArrival>> read_job_trace(std::unique_ptr<ByteStream> bytes, const JobTracePart& part);

}  // namespace capstan::workload
