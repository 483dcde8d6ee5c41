#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/run/prepare.h"

// Several runs at once, on as many threads as the user allows. The results do not depend on the number of threads.
namespace capstan::experiment {

/// One run of a batch. The scenario and the policy outlive the batch.
struct PlannedRun {
  const scenario::Scenario* scenario = nullptr;
  const scenario::PolicySpec* policy = nullptr;
  std::optional<RequestCount> miss_limit{};  ///< as in SimulationSetup
};

/// Runs all, `jobs` at a time; 0 = one for each core.
/// @param stage  what progress calls this batch; empty: the policies of the scenario
/// @param progress  is called from the threads that run, one call at a time
/// @return the results in the order of `runs`, or the first error in that order
Result<std::vector<RunResult>> run_batch(std::span<const PlannedRun> runs, unsigned jobs, const std::string& stage,
                                         const ProgressCallback& progress);

/// Returns the limit after which a run of the scenario can no longer hold the SLO. Arrivals of an open load do not
/// depend on the fleet that serves them, so `known`, any whole run of it, tells how many there are. Nothing for closed
/// loops.
std::optional<RequestCount> miss_limit(const scenario::Scenario& scenario, const RunResult& known);
/// Returns true if the run was ended at this limit, or would have been a minute later: it misses the SLO.
bool ended_early(const RunResult& result, std::optional<RequestCount> limit);

/// Runs beyond those of the policies, which look for advice. Counts them and limits the requests that they simulate.
class ExtraRuns {
 public:
  /// @param request_limit  simulated requests; no further batch is due when so many have been simulated
  /// @param progress       outlives this object
  ExtraRuns(unsigned jobs, RequestCount request_limit, const ProgressCallback& progress)
      : jobs_(jobs), request_limit_(request_limit), progress_(progress) {}

  bool has_budget() const { return requests_ < request_limit_; }
  /// Runs a batch, whether or not there is budget left for it.
  Result<std::vector<RunResult>> run(std::span<const PlannedRun> runs, const std::string& stage);
  int runs() const { return runs_; }
  RequestCount requests() const { return requests_; }  ///< simulated by all of these runs

 private:
  unsigned jobs_;
  RequestCount request_limit_;
  const ProgressCallback& progress_;
  int runs_ = 0;
  RequestCount requests_ = 0;
};

}  // namespace capstan::experiment
