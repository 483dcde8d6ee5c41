#include "experiment/run/team_figures.h"

#include <algorithm>
#include <string>

namespace capstan::experiment {
namespace {

TeamFigures& row_of(std::vector<TeamFigures>& teams, const std::string& name) {
  const auto found = std::ranges::find(teams, name, &TeamFigures::name);
  if (found != teams.end()) return *found;
  teams.emplace_back().name = name;
  return teams.back();
}

void add(TeamFigures& team, const ServiceFigures& service) {
  team.arrived += service.requests.arrived;
  team.met += service.requests.met;
  team.gpu_ns += service.gpu_ns;
  team.micro_usd += service.micro_usd;
}

void add(TeamFigures& team, const JobFigures& jobs) {
  team.jobs_arrived += jobs.arrived;
  team.jobs_ended += jobs.ended;
  team.gpu_ns += jobs.gpu_ns;
  team.micro_usd += jobs.micro_usd;
}

}  // namespace

std::vector<TeamFigures> team_figures(const RunResult& result) {
  std::vector<TeamFigures> teams;
  for (const ServiceFigures& service : result.services) add(row_of(teams, service.team), service);
  for (const JobFigures& jobs : result.jobs) add(row_of(teams, jobs.team), jobs);
  const auto has_no_name = [](const TeamFigures& team) { return team.name.empty(); };
  if (std::ranges::all_of(teams, has_no_name)) return {};
  std::ranges::stable_partition(teams, [&](const TeamFigures& team) { return !has_no_name(team); });
  return teams;
}

bool teams_add_up(const RunResult& result) {
  if (result.teams.empty()) return true;
  TeamFigures users;
  for (const ServiceFigures& service : result.services) add(users, service);
  for (const JobFigures& jobs : result.jobs) add(users, jobs);
  TeamFigures sum;
  for (const TeamFigures& team : result.teams) {
    sum.met += team.met;
    sum.jobs_ended += team.jobs_ended;
    sum.gpu_ns += team.gpu_ns;
    sum.micro_usd += team.micro_usd;
  }
  return sum.met == result.requests.met && sum.jobs_ended == users.jobs_ended && sum.gpu_ns == users.gpu_ns &&
         sum.micro_usd + result.idle_node_micro_usd == result.node_micro_usd;
}

}  // namespace capstan::experiment
