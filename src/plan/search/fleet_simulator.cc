#include "plan/search/fleet_simulator.h"

namespace capstan::plan {

Result<void> FleetSimulator::add(const std::vector<FleetOrder>& orders, const Conditions& conditions,
                                 const std::string& stage, TriedFleets& tried) {
  if (orders.empty()) return {};
  std::vector<TrialOrder> trials;
  for (const FleetOrder& order : orders) trials.push_back({order.fleet, conditions, order.seed});
  const auto results = trials_.run(trials, stage);
  if (!results) return std::unexpected(results.error());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    TriedFleet& fleet = tried[orders[i].key];
    fleet.key = orders[i].key;
    fleet.fleet = orders[i].fleet;
    note_result((*results)[i], service_, !conditions.length.has_value(), fleet);
  }
  return {};
}

Result<void> FleetSimulator::run(const std::vector<FleetOrder>& orders, const std::string& stage) {
  return add(orders, {}, stage, tried_);
}

Result<TriedFleets> FleetSimulator::run_short(const std::vector<FleetOrder>& orders, const std::string& stage) {
  TriedFleets tried;
  if (Result<void> done = add(orders, {.length = load_.coarse_length}, stage, tried); !done) {
    return std::unexpected(done.error());
  }
  return tried;
}

TriedFleet FleetSimulator::result(const FleetKey& key) const {
  const auto found = tried_.find(key);
  if (found != tried_.end()) return found->second;
  return {.key = key, .fleet = fleet_of(candidates_, key), .holds_slo = false};
}

}  // namespace capstan::plan
