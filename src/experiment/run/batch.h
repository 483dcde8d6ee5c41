#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
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
  bool keep_history = false;                 ///< as in SimulationSetup
};

/// Returns the policy of the scenario with this name, which is the name of a result; null if there is none.
const scenario::PolicySpec* find_policy(const scenario::Scenario& scenario, const std::string& name);

/// Simulates all runs, `jobs` at a time; 0 = one for each core.
/// @param stage  name of this batch in the progress; empty: the policies of the scenario
/// @param progress  is called from the threads that run, one call at a time
/// @param stop  a requested stop ends all runs, with an error
/// @return the results in the order of `runs`, or the first error in that order
Result<std::vector<RunResult>> run_batch(std::span<const PlannedRun> runs, unsigned jobs, const std::string& stage,
                                         const ProgressCallback& progress, const std::stop_token& stop = {});

/// Returns the number of missed requests above which a run of the scenario cannot hold the SLO; none for closed loops.
/// @param known  a complete run, for the number of requests. With an open load every fleet gets the same requests.
std::optional<RequestCount> miss_limit(const scenario::Scenario& scenario, const RunResult& known);
/// Returns true if the run missed more requests than this limit, so that it misses the SLO. A run checks the limit once
/// a minute and may be complete before it ends there.
bool exceeds_miss_limit(const RunResult& result, std::optional<RequestCount> limit);

/// Runs that search for advice, in addition to the runs of the policies. Counts these runs, and limits the requests
/// that they simulate.
class ExtraRuns {
 public:
  /// @param request_limit  `has_budget()` is true until this many requests were simulated
  /// @param progress       outlives this object
  ExtraRuns(unsigned jobs, RequestCount request_limit, const ProgressCallback& progress, std::stop_token stop = {})
      : jobs_(jobs), request_limit_(request_limit), progress_(progress), stop_(std::move(stop)) {}

  bool has_budget() const { return requests_ < request_limit_; }
  /// Runs a batch, even if the limit of requests is reached.
  Result<std::vector<RunResult>> run(std::span<const PlannedRun> runs, const std::string& stage);
  int runs() const { return runs_; }
  RequestCount requests() const { return requests_; }  ///< requests that all of these runs simulated

 private:
  unsigned jobs_;
  RequestCount request_limit_;
  const ProgressCallback& progress_;
  std::stop_token stop_;
  int runs_ = 0;
  RequestCount requests_ = 0;
};

}  // namespace capstan::experiment
