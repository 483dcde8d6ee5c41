#include "experiment/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "experiment/fleet_hook.h"
#include "experiment/observer.h"
#include "experiment/watched_world.h"
#include "sim/cluster/cluster.h"

namespace capstan::experiment {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

/// The load of a run: arrivals of their own, or clients that wait for their answers.
struct Load {
  std::unique_ptr<workload::Source> source;
  std::optional<workload::ClosedLoop> clients;

  std::optional<Error> error() const { return source ? source->error() : std::nullopt; }
  double progress() const { return source ? source->progress() : 0; }
};

Result<Load> open_load(const SimulationSetup& setup) {
  Load load;
  if (workload::is_closed_loop(setup.workload)) {
    Result<workload::ClosedLoop> clients = workload::open_closed_loop(setup.workload, setup.seed);
    if (!clients) return std::unexpected(clients.error());
    load.clients.emplace(std::move(*clients));
  } else {
    Result<std::unique_ptr<workload::Source>> source = workload::open(setup.workload, setup.seed);
    if (!source) return std::unexpected(source.error());
    load.source = std::move(*source);
  }
  return load;
}

std::unique_ptr<sim::Fleet> make_fleet(const SimulationSetup& setup, Load& load) {
  sim::FleetConfig config = setup.fleet;
  config.seed = setup.seed;
  return load.clients ? std::make_unique<sim::Fleet>(config, setup.variants, setup.slo, *load.clients)
                      : std::make_unique<sim::Fleet>(config, setup.variants, setup.slo, *load.source);
}

/// How far the run is, 0 to 1: by whichever of its end and its load says more.
double part_done(const SimulationSetup& setup, const Load& load, Instant now) {
  const Duration length = setup.duration.value_or(setup.workload.duration.value_or(Duration{}));
  const double by_time =
      length.count() > 0 ? static_cast<double>(now.since_start.count()) / static_cast<double>(length.count()) : 0;
  return std::min(1.0, std::max(by_time, load.progress()));
}

/// When the run is over.
class End {
 public:
  explicit End(const SimulationSetup& setup) : setup_(setup) {}

  bool reached(const sim::Fleet& fleet, Instant now) {
    if (setup_.duration) return now.since_start >= *setup_.duration;
    if (fleet.over()) return true;
    if (!fleet.arrivals_over()) return false;
    if (last_arrival_.is_never()) last_arrival_ = now;
    return now - last_arrival_ >= setup_.settle;
  }
  Instant latest() const { return setup_.duration ? Instant{*setup_.duration} : Instant::never(); }

 private:
  const SimulationSetup& setup_;
  Instant last_arrival_ = Instant::never();
};

}  // namespace

Result<RunResult> simulate(const SimulationSetup& setup, const ProgressCallback& progress) {
  Result<Load> load = open_load(setup);
  if (!load) return std::unexpected(load.error());
  const std::unique_ptr<sim::Fleet> fleet = make_fleet(setup, *load);
  FleetHook hook(*fleet);
  sim::Cluster cluster(setup.cluster, setup.seed, hook);
  cluster.advance({});  // what stands at the start stands before anybody looks
  WatchedWorld world(cluster, hook.scraped(), setup.cluster);
  control::Controller controller(setup.policies, world, {.verify_replay = setup.verify, .witness = setup.witness});
  Observer observer(setup, *fleet, cluster, hook, world, controller);

  End end(setup);
  Instant minute{kMinute};
  Instant now{};
  while (!end.reached(*fleet, now) && !load->error()) {
    now = std::min({cluster.next_event(), controller.next_tick(), minute, end.latest()});
    fleet->advance(now);
    cluster.advance(now);
    if (controller.next_tick() <= now) {
      controller.tick();
      if (setup.enough && setup.enough()) break;
    }
    if (minute <= now) {
      observer.minute(now);
      if (progress) progress({now, part_done(setup, *load, now), fleet->meter().counts.arrived, now.since_start});
      minute = minute + kMinute;
    }
  }
  if (load->error()) return std::unexpected(*load->error());
  fleet->finish(now);
  observer.finish(now);
  return observer.result(now);
}

}  // namespace capstan::experiment
