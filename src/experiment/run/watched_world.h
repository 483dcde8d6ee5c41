#pragma once

#include <cstdint>

#include "base/time.h"
#include "experiment/run/run_history.h"
#include "experiment/run/scrape_log.h"
#include "ports/world.h"
#include "sim/cluster/cluster_config.h"

namespace capstan::experiment {

/// Returns the number of changed rows with data that a controller in production could not have at that moment
/// (invariant 7):
/// - signals of a replica or gateway that were not scraped, whose age is wrong, or that are visible before the delay of
///   a scrape has passed;
/// - an object whose time of creation, readiness or request is in the future.
///
/// No other data of a row is checked. The cost grows with the number of changed rows.
std::int64_t unobservable_rows(const ports::Observation& seen, const ScrapeLog& scraped,
                               const sim::ClusterConfig& config);

/// Gives a controller access to a world, and checks every observation for invariant 7.
class WatchedWorld final : public ports::World {
 public:
  /// Keeps references to its arguments, which must outlive this object. `config` belongs to the cluster behind `world`.
  /// @param history  is told every observation; may be null
  WatchedWorld(ports::World& world, const ScrapeLog& scraped, const sim::ClusterConfig& config,
               HistoryRecorder* history = nullptr)
      : world_(world), scraped_(scraped), config_(config), history_(history) {}

  Instant now() const override { return world_.now(); }
  ports::Observation observe() override {
    ports::Observation seen = world_.observe();
    unobservable_rows_ += experiment::unobservable_rows(seen, scraped_, config_);
    if (history_ != nullptr) history_->note(seen);
    return seen;
  }
  model::ActionToken submit(const model::Action& action) override { return world_.submit(action); }

  std::int64_t unobservable_rows() const { return unobservable_rows_; }

 private:
  ports::World& world_;
  const ScrapeLog& scraped_;
  const sim::ClusterConfig& config_;
  HistoryRecorder* history_;
  std::int64_t unobservable_rows_ = 0;
};

}  // namespace capstan::experiment
