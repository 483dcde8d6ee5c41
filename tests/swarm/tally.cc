#include "swarm/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace capstan::swarm {

namespace {

std::string broken_text(const OwnerTally& tally) {
  if (tally.worlds_broken.empty()) return "no invariant broken";
  std::string text;
  for (const auto& [invariant, worlds] : tally.worlds_broken) {
    text += fmt::format("{}invariant {} in {} world{}", text.empty() ? "" : ", ", invariant, worlds,
                        worlds == 1 ? "" : "s");
  }
  return "broken: " + text;
}

}  // namespace

std::vector<BrokenInvariant> Tally::add(const World& world, const experiment::RunResult& result) {
  OwnerTally& tally = world.owner == Owner::capstan ? capstan_ : baselines_;
  ++tally.worlds;
  tally.simulated_seconds += std::chrono::duration_cast<std::chrono::seconds>(result.simulated).count();
  std::vector<BrokenInvariant> all = find_broken(result.invariants);
  std::set<int> invariants;
  for (const BrokenInvariant& one : all) invariants.insert(one.counter->invariant);
  for (const int invariant : invariants) ++tally.worlds_broken[invariant];
  std::erase_if(all, [&](const BrokenInvariant& one) { return !is_violation(one, world.owner); });
  if (!all.empty()) ++violations_;
  return all;
}

std::string Tally::to_text() const {
  const auto line = [](const char* owner, const OwnerTally& tally) {
    return fmt::format("swarm: {}: {} worlds, {:.0f} simulated hours, {}\n", owner, tally.worlds,
                       tally.simulated_hours(), broken_text(tally));
  };
  return line("Capstan's policies", capstan_) + line("baselines", baselines_);
}

}  // namespace capstan::swarm
