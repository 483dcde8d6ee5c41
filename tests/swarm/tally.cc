#include "swarm/tally.h"

#include <fmt/format.h>

#include <algorithm>

namespace capstan::swarm {

namespace {

std::string broken_words(const OwnerTally& tally) {
  if (tally.worlds_broken.empty()) return "no invariant broken";
  std::string words;
  for (const auto& [invariant, worlds] : tally.worlds_broken) {
    words += fmt::format("{}invariant {} in {} world{}", words.empty() ? "" : ", ", invariant, worlds,
                         worlds == 1 ? "" : "s");
  }
  return "broken: " + words;
}

}  // namespace

std::vector<Broken> Tally::add(const World& world, const experiment::RunResult& result) {
  OwnerTally& tally = world.owner == Owner::capstan ? own_ : baselines_;
  ++tally.worlds;
  tally.simulated_seconds += std::chrono::duration_cast<std::chrono::seconds>(result.simulated).count();
  std::vector<Broken> all = broken(result.invariants);
  for (const Broken& one : all) ++tally.worlds_broken[one.counter->invariant];
  std::erase_if(all, [&](const Broken& one) { return !is_violation(one, world.owner); });
  if (!all.empty()) ++violations_;
  return all;
}

std::string Tally::words() const {
  const auto line = [](const char* whose, const OwnerTally& tally) {
    return fmt::format("swarm: {}: {} worlds, {:.0f} simulated hours, {}\n", whose, tally.worlds,
                       tally.simulated_hours(), broken_words(tally));
  };
  return line("Capstan's policies", own_) + line("baselines", baselines_);
}

}  // namespace capstan::swarm
