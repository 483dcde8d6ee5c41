#pragma once

#include <string>

#include "base/error.h"
#include "experiment/compare.h"
#include "plan/result/plan.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Simulates the plan of one service again and keeps the history of nodes and replicas: one run for each scaler of the
/// plan, and one for each of at most four other fleets of the frontier. The first result is the plan; the others are
/// ranked as in a comparison. The policies have the names of the scalers and fleets. The seed is that of the scenario
/// that `--out` writes.
Result<experiment::Comparison> prove_plan(const ServiceSpec& spec, const ServicePlan& planned,
                                          const SearchOptions& options);

/// Returns the file of a service: the path itself if the plan has one service, otherwise the path with the service's
/// name before the extension.
std::string plan_report_path(const PlanSpec& spec, const std::string& service, const std::string& path);

struct PlanReportOptions {
  std::string command;  ///< command that writes the page again
  std::string out{};    ///< folder in which the scenarios are written; empty: they are not written
};

/// Returns the proof of one service as the page reads it: the plan's choice, and for each scaler the command that
/// simulates it again, if its scenario is written to a file.
std::string plan_report_json(const ServiceSpec& spec, const ServicePlan& planned, const experiment::Comparison& proof,
                             const PlanReportOptions& report);

}  // namespace capstan::plan
