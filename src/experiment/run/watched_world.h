#pragma once

#include <cstdint>

#include "base/time.h"
#include "experiment/run/scrape_log.h"
#include "ports/world.h"
#include "sim/cluster/cluster_config.h"

namespace capstan::experiment {

/// How many changed rows of an observation hold what production could not know at that moment (invariant 7):
/// - a replica's or gateway's signals that are no copy of a reading that some scrape took, or that are visible sooner
///   than the delay of a scrape, or that claim to be older or younger than they are;
/// - a row that says that something happened later than now.
/// Every other number of a snapshot is a prediction or a request of somebody who sees snapshots only. Costs what
/// changed.
std::int64_t oracle_rows(const ports::Observation& seen, const ScrapeLog& scraped, const sim::ClusterConfig& config);

/// The world as a controller gets it, with every observation held to invariant 7 on its way.
class WatchedWorld final : public ports::World {
 public:
  /// All outlive it. `config` is of the cluster behind `world`.
  WatchedWorld(ports::World& world, const ScrapeLog& scraped, const sim::ClusterConfig& config)
      : world_(world), scraped_(scraped), config_(config) {}

  Instant now() const override { return world_.now(); }
  ports::Observation observe() override {
    ports::Observation seen = world_.observe();
    oracle_rows_ += experiment::oracle_rows(seen, scraped_, config_);
    return seen;
  }
  model::ActionToken submit(const model::Action& action) override { return world_.submit(action); }

  std::int64_t oracle_rows() const { return oracle_rows_; }

 private:
  ports::World& world_;
  const ScrapeLog& scraped_;
  const sim::ClusterConfig& config_;
  std::int64_t oracle_rows_ = 0;
};

}  // namespace capstan::experiment
