#include "swarm/verdict.h"

#include <fmt/format.h>

namespace capstan::swarm {

namespace {

using Figures = experiment::InvariantFigures;

constexpr Counter kCounters[] = {
    {1, "partial_gang", &Figures::partial_gang, false},
    {2, "work_cut", &Figures::work_cut, false},
    {2, "jobs_restarted", &Figures::jobs_restarted, false},
    {3, "lowered_blind", &Figures::scale_downs_without_data, false},
    {4, "limit_exceeded", &Figures::limit_exceeded, false},
    {5, "not_repeatable", &Figures::not_repeatable, true},
    {6, "group_overheld", &Figures::expired_group_holds, false},
    {7, "oracle", &Figures::unobservable_values, true},
    {8, "not_conserved", &Figures::not_conserved, true},
    {12, "unsettled", &Figures::unsettled, false},
};

}  // namespace

std::span<const Counter> counters() { return kCounters; }

std::vector<BrokenInvariant> find_broken(const Figures& figures) {
  std::vector<BrokenInvariant> found;
  for (const Counter& counter : kCounters) {
    if (const std::int64_t times = figures.*counter.times; times != 0) found.push_back({&counter, times});
  }
  return found;
}

bool is_violation(const BrokenInvariant& broken, Owner owner) {
  return owner == Owner::capstan || broken.counter->holds_for_baselines;
}

std::string to_text(const BrokenInvariant& broken) {
  return fmt::format("broke invariant {} ({}) {}", broken.counter->invariant, broken.counter->name,
                     broken.times == 1 ? "once" : fmt::format("{} times", broken.times));
}

}  // namespace capstan::swarm
