#include "swarm/run_world.h"

#include "experiment/run/prepare.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::swarm {

Result<experiment::RunResult> Runner::run(const World& world, bool verify) const {
  const auto scenario = scenario::parse_scenario(
      base_, kWorldFile, {.sets = world.sets, .trace = {}, .seed = world.run_seed, .policies = {}});
  if (!scenario) return std::unexpected(scenario.error().list.front());
  experiment::PreparedRun prepared = experiment::prepare(*scenario, scenario->policies.front(), scenario->seed);
  prepared.setup.verify = verify;
  return experiment::simulate(prepared.setup);
}

World Runner::reduced(const World& world, const Counter& counter, bool verify) const {
  World smallest = world;
  for (std::size_t i = world.sets.size(); i-- > 0;) {
    World candidate = smallest;
    candidate.sets.erase(candidate.sets.begin() + static_cast<std::ptrdiff_t>(i));
    // Without a change that other changes need, the world cannot be read. Such a change is kept.
    const auto result = run(candidate, verify);
    if (result && result->invariants.*counter.times != 0) smallest = std::move(candidate);
  }
  return smallest;
}

}  // namespace capstan::swarm
