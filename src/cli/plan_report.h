#pragma once

#include <string>

#include "base/error.h"
#include "experiment/compare.h"
#include "plan/plan.h"
#include "plan/search/search.h"

namespace capstan::cli {

/// Simulates the plan of one service again, with the history of nodes and replicas: once with each scaler of the plan,
/// and the other fleets of the frontier. The policies have the names of the scalers and fleets. The seed is that of the
/// scenario that `--out` writes.
/// @param service  position in Plan::services
Result<experiment::Comparison> prove_plan(const plan::Plan& made, std::size_t service,
                                          const plan::SearchOptions& options);

/// Returns the file of a service: the path itself if the plan has one service, else with the service's name before the
/// extension.
std::string plan_report_path(const plan::Plan& made, std::size_t service, const std::string& path);

/// Simulates the proof of the plan again and writes a page with charts for each service.
Result<void> write_plan_report(const plan::Plan& made, const plan::SearchOptions& options, const std::string& path);

}  // namespace capstan::cli
