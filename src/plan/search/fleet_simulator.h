#pragma once

#include <string>
#include <vector>

#include "plan/search/tried_fleets.h"

namespace capstan::plan {

/// A fleet to simulate under one seed.
struct FleetOrder {
  FleetKey key{};
  FleetOption fleet{};
  std::uint64_t seed = 1;
};

/// Simulates fleets of one service, and keeps the results of each fleet on the whole load.
class FleetSimulator {
 public:
  /// The spec and the options must outlive this object.
  FleetSimulator(const PlanSpec& spec, const ServiceSpec& service, LoadFacts load,
                 std::vector<FleetCandidate> candidates, const SearchOptions& options)
      : spec_(spec),
        service_(service),
        load_(std::move(load)),
        candidates_(std::move(candidates)),
        trials_(spec, service, load_, options) {}
  FleetSimulator(const FleetSimulator&) = delete;
  FleetSimulator& operator=(const FleetSimulator&) = delete;

  /// Simulates the whole load, and adds the results to `tried`.
  Result<void> run(const std::vector<FleetOrder>& orders, const std::string& stage);
  /// Simulates the short part of the load.
  Result<TriedFleets> run_short(const std::vector<FleetOrder>& orders, const std::string& stage);
  /// Simulates fleets under worse conditions.
  Result<std::vector<experiment::RunResult>> run_stress_tests(const std::vector<TrialOrder>& orders) {
    return trials_.run(orders, "robustness");
  }

  FleetOrder order(const FleetKey& key, std::uint64_t seed) const { return {key, fleet_of(candidates_, key), seed}; }
  std::string scenario(const FleetOption& fleet, const Conditions& conditions = {}) const {
    return scenario_text(spec_, service_, fleet, load_, conditions);
  }

  const PlanSpec& spec() const { return spec_; }
  const ServiceSpec& service() const { return service_; }
  const LoadFacts& load() const { return load_; }
  const std::vector<FleetCandidate>& candidates() const { return candidates_; }
  const TriedFleets& tried() const { return tried_; }
  /// Returns what the simulations of a fleet have shown so far. A fleet that was not simulated has no trials and does
  /// not hold the SLO.
  TriedFleet result(const FleetKey& key) const;
  std::int64_t simulations() const { return trials_.simulations(); }
  RequestCount requests() const { return trials_.requests(); }

 private:
  Result<void> add(const std::vector<FleetOrder>& orders, const Conditions& conditions, const std::string& stage,
                   TriedFleets& tried);

  const PlanSpec& spec_;
  const ServiceSpec& service_;
  LoadFacts load_;
  std::vector<FleetCandidate> candidates_;
  FleetTrials trials_;
  TriedFleets tried_;
};

}  // namespace capstan::plan
