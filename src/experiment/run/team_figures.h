#pragma once

#include <vector>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// Returns the sums over the services and jobs of each team, in the order in which they name their teams. Services and
/// jobs without a team are the last row. Empty if no service and no class of jobs names a team.
std::vector<TeamFigures> team_figures(const RunResult& result);

/// Returns true if the sums over all teams equal the sums over all services and jobs, or if there are no teams.
bool teams_add_up(const RunResult& result);

}  // namespace capstan::experiment
