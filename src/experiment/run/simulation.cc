#include "experiment/run/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/known_row.h"
#include "experiment/run/deciders.h"
#include "experiment/run/endpoints.h"
#include "experiment/run/fleet_hook.h"
#include "experiment/run/observer.h"
#include "experiment/run/queue_watch.h"
#include "experiment/run/watched_world.h"
#include "experiment/text/words.h"
#include "explain/explain.h"
#include "sim/cluster/cluster.h"

namespace capstan::experiment {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

/// Returns the finished part of the run, 0 to 1.
double part_done(const SimulationSetup& setup, const Endpoints& endpoints, const sim::Jobs& jobs, Instant now) {
  if (!setup.duration) return setup.endpoints.empty() ? jobs.part_ended() : endpoints.part_done(now);
  return std::min(1.0, static_cast<double>(now.since_start.count()) / static_cast<double>(setup.duration->count()));
}

/// The peer that scales one service in place of the policy, and the metrics that the peer reads. Empty if the setup has
/// no peer for the service.
class Peer {
 public:
  Peer() = default;
  Peer(const scenario::PeerSpec& spec, const sim::ClusterConfig& cluster) : autoscaler_(spec.make()) {
    series_ = std::make_unique<ScrapedSeries>(spec.labels, cluster.scrape.delay, cluster.memory_used_percent);
  }

  ScrapedSeries* series() { return series_.get(); }
  const std::string& why() const { return why_; }  ///< the reason of the last decision; empty without a peer
  std::optional<ReplicaCount> decide(const model::Snapshot& snapshot, const decide::scale::WorkloadView& role) {
    if (!autoscaler_) return std::nullopt;
    const model::Signal& waiting = snapshot.services.at(role.service).gateway_waiting;
    const bool known = waiting.state != model::Signal::State::missing;
    const std::optional<RequestCount> held = known ? std::optional(waiting.value) : std::nullopt;
    peers::Recommendation answer = autoscaler_->recommend({role, held, series_->at(snapshot.at)}, snapshot.at);
    why_ = std::move(answer.why);
    return answer.replicas;
  }
  std::vector<std::string> warnings() const {
    return autoscaler_ ? autoscaler_->warnings() : std::vector<std::string>();
  }

 private:
  std::unique_ptr<peers::Autoscaler> autoscaler_;
  std::string why_;
  std::unique_ptr<ScrapedSeries> series_;
};

/// The peers of a run, one entry for each service.
class Peers {
 public:
  explicit Peers(const SimulationSetup& setup)
      : peers_(setup.cluster.catalog->services.size()),
        scrape_interval_(setup.cluster.scrape.interval),
        has_jobs_(!setup.cluster.job_classes.empty()) {
    for (std::size_t i = 0; i < setup.peers.size(); ++i) {
      if (!setup.peers[i]) continue;
      known_row(peers_, i) = Peer(*setup.peers[i], setup.cluster);
      any_ = true;
    }
    if (setup.endpoints.size() < 2) return;
    owners_.resize(peers_.size());
    for (const EndpointSetup& endpoint : setup.endpoints) {
      for (std::size_t v = 0; v < endpoint.variants.size(); ++v) owners_[endpoint.first.value + v] = endpoint.name;
    }
  }

  Peer& peer_of(model::ServiceId service) { return known_row(peers_, service.value); }
  std::vector<ScrapedSeries*> series() {
    std::vector<ScrapedSeries*> all;
    for (Peer& peer : peers_) all.push_back(peer.series());
    return all;
  }
  Autoscaler autoscaler() {
    if (!any_) return {};
    return [this](const model::Snapshot& snapshot, const decide::scale::WorkloadView& role) {
      return peer_of(role.service).decide(snapshot, role);
    };
  }
  /// Scrapes the lengths of the job queues, if it is time for it.
  void scrape_queues(const model::Snapshot& truth, Instant now) {
    if (!any_ || !has_jobs_ || now < next_scrape_) return;
    next_scrape_ = now + scrape_interval_;
    const std::vector<std::int64_t> jobs = waiting_jobs(truth);
    for (Peer& peer : peers_) {
      for (std::size_t i = 0; i < jobs.size() && peer.series() != nullptr; ++i) {
        peer.series()->add(now, truth.catalog->queues[i].name, jobs[i]);
      }
    }
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      for (const std::string& warning : peers_[i].warnings()) {
        std::string text = owners_.empty() ? warning : owners_[i] + ": " + warning;
        if (std::ranges::find(all, text) == all.end()) all.push_back(std::move(text));
      }
    }
    return all;
  }

 private:
  std::vector<Peer> peers_;          ///< by service
  std::vector<std::string> owners_;  ///< names of the endpoints by service; empty if there is only one endpoint
  Duration scrape_interval_;
  bool has_jobs_;
  Instant next_scrape_{};
  bool any_ = false;
};

/// Records the changes of the wanted replicas of each service.
class ScaleRecorder {
 public:
  explicit ScaleRecorder(const SimulationSetup& setup)
      : setup_(setup),
        last_(setup.cluster.catalog->services.size()),
        changes_(last_.size()),
        has_one_endpoint_(setup.endpoints.size() == 1) {}

  /// Returns the step that was added, if the number has changed; null: none.
  template <typename Why>
  ScaleStep* note(model::ServiceId id, const model::Catalog& catalog, ReplicaCount desired, const Why& why,
                  Instant now) {
    std::optional<ReplicaCount>& last = known_row(last_, id.value);
    if (last == desired) return nullptr;
    known_row(changes_, id.value) += last ? 1 : 0;
    last = desired;
    if (steps_.size() == kMaxScaleSteps) return nullptr;
    const model::Service& service = catalog.service(id);
    if (has_one_endpoint_) {
      steps_.push_back({now, desired, why(id), service.workload.role, variant_name(catalog, service)});
    } else {
      steps_.push_back({now, desired, why(id), model::Role::both, service.name});
    }
    return &steps_.back();
  }
  void move_into(RunResult& result) && {
    for (const std::int64_t changes : changes_) result.scale_changes += changes;
    for (std::size_t e = 0; e < result.services.size(); ++e) {
      const EndpointSetup& endpoint = setup_.endpoints[e];
      for (std::size_t v = 0; v < endpoint.variants.size(); ++v) {
        result.services[e].scale_changes += changes_[endpoint.first.value + v];
      }
    }
    result.scale_steps = std::move(steps_);
  }

 private:
  const SimulationSetup& setup_;
  std::vector<std::optional<ReplicaCount>> last_;  ///< by service
  std::vector<std::int64_t> changes_;              ///< by service
  bool has_one_endpoint_;                          ///< true: the services are replicas of one endpoint
  std::vector<ScaleStep> steps_;
};

/// Returns the autoscaler that replaces the policy: the script, or the peers. Empty if there is neither.
Autoscaler autoscaler_of(const SimulationSetup& setup, Peers& peers) {
  if (!setup.script) return peers.autoscaler();
  return [&setup](const model::Snapshot& snapshot, const decide::scale::WorkloadView& role) {
    const bool first = role.service == model::ServiceId{0};
    return first ? std::optional(setup.script(snapshot.at)) : std::nullopt;
  };
}

/// Returns the decider of a run: the policies, with checks and replacements if the setup has them.
/// @param differences  counts the decisions that were not repeatable, if the setup verifies them
std::unique_ptr<control::Decider> decider_of(const SimulationSetup& setup, Peers& peers, std::int64_t& differences) {
  std::unique_ptr<control::Decider> decider = std::make_unique<control::PolicyDecider>(
      decide::Options{.detail = setup.keep_history ? decide::Detail::candidates : decide::Detail::reasons,
                      .verify = setup.verify ? decide::Verify::yes : decide::Verify::no});
  if (setup.verify) decider = std::make_unique<ReplayCheck>(std::move(decider), differences);
  if (Autoscaler autoscaler = autoscaler_of(setup, peers)) {
    decider = std::make_unique<OutsideAutoscaler>(std::move(decider), std::move(autoscaler));
  }
  return decider;
}

/// Returns the number of requests that can no longer meet the SLO.
RequestCount missed(const sim::RequestCounts& counts) { return counts.completed - counts.met + counts.unmet(); }

/// Returns the reason of another autoscaler, and the bound of the service that limits it.
std::string with_bounds(const std::string& why, model::ReasonCode code, const model::Service& service,
                        ReplicaCount desired) {
  using model::ReasonCode;
  if (code == ReasonCode::at_maximum || code == ReasonCode::above_maximum || desired == service.max_replicas) {
    return fmt::format("{}; the maximum is {}", why, service.max_replicas);
  }
  const bool is_at_minimum = code == ReasonCode::at_minimum || code == ReasonCode::below_minimum;
  return is_at_minimum ? fmt::format("{}; the minimum is {}", why, service.min_replicas) : why;
}

/// Decides when the run is over.
class RunEnd {
 public:
  explicit RunEnd(const SimulationSetup& setup) : setup_(setup) {}

  bool reached(const Endpoints& endpoints, const sim::Jobs& jobs, Instant now) {
    if (setup_.duration) return now.since_start >= *setup_.duration;
    if (endpoints.is_over(now) && jobs.have_all_ended()) return true;
    if (!endpoints.are_loads_over(now) || !jobs.have_all_arrived()) return false;
    if (last_arrival_.is_never()) last_arrival_ = now;
    return now - last_arrival_ >= setup_.settle_time;
  }
  /// Returns the next moment at which the run may end without an event.
  Instant next(const Endpoints& endpoints, Instant now) const {
    return setup_.duration ? Instant{*setup_.duration} : endpoints.next_load_end(now);
  }

 private:
  const SimulationSetup& setup_;
  Instant last_arrival_ = Instant::never();
};

}  // namespace

Result<RunResult> simulate(const SimulationSetup& setup, const ProgressCallback& progress) {
  const Result<Endpoints> opened = Endpoints::open(setup);
  if (!opened) return std::unexpected(opened.error());
  const Endpoints& endpoints = *opened;
  Peers peers(setup);
  FleetHook hook(endpoints.routes(), setup.cluster.catalog->services, peers.series());
  sim::Cluster cluster(setup.cluster, setup.seed, hook);
  cluster.advance({});  // the first observation must show the nodes and replicas of the start
  HistoryRecorder history(setup.cluster);
  WatchedWorld world(cluster, hook.scraped(), setup.cluster, setup.keep_history ? &history : nullptr);
  std::int64_t not_repeatable = 0;
  control::Controller controller(setup.policies, world,
                                 {.input_observer = setup.input_observer,
                                  .decider = decider_of(setup, peers, not_repeatable),
                                  .outcome_observer = setup.outcome_observer});
  const std::vector<model::Service>& services = setup.cluster.catalog->services;
  const auto why = [&](model::ServiceId id) {
    const decide::scale::Decision& decision = controller.scale_decision(id);
    const std::string& peers_why = peers.peer_of(id).why();
    if (peers_why.empty()) return model::sentence(decision.why);
    const model::ServiceState* state = cluster.truth().services.find(id);
    return with_bounds(peers_why, decision.why.code, services[id.value], state ? state->desired_replicas : 0);
  };
  Observer observer(setup, endpoints, cluster, hook, world, controller, why);

  ScaleRecorder recorder(setup);
  RunEnd end(setup);
  Instant minute{kMinute};
  Instant now{};
  while (!end.reached(endpoints, cluster.jobs(), now) && !endpoints.error() && !setup.stop.stop_requested()) {
    now = std::min({cluster.next_event(), controller.next_tick(), minute, end.next(endpoints, now)});
    endpoints.advance(now);
    cluster.advance(now);
    peers.scrape_queues(cluster.truth(), now);
    if (controller.next_tick() <= now) {
      controller.tick();
      if (setup.keep_history) history.note(controller, *setup.cluster.catalog, now);
      for (model::ServiceId id{0}; id.value < services.size(); ++id.value) {
        const decide::scale::Decision& decision = controller.scale_decision(id);
        ScaleStep* step = recorder.note(id, *setup.cluster.catalog, decision.desired, why, now);
        if (step == nullptr || !setup.keep_history || setup.script || !peers.peer_of(id).why().empty()) continue;
        step->arithmetic = explain::paragraph(*setup.cluster.catalog, decision);
      }
      if (setup.should_end && setup.should_end()) break;
    }
    if (minute <= now) {
      observer.minute(now);
      const sim::RequestCounts counts = endpoints.counts();
      if (progress)
        progress({now, part_done(setup, endpoints, cluster.jobs(), now), counts.arrived, now.since_start, {}});
      minute = minute + kMinute;
      if (setup.miss_limit && missed(counts) > *setup.miss_limit) break;
    }
  }
  if (const std::optional<Error> error = endpoints.error()) return std::unexpected(*error);
  if (setup.stop.stop_requested()) return std::unexpected(Error::about({}, "the simulation was stopped"));
  endpoints.finish(now);
  observer.finish(now);
  RunResult result = observer.result(now);
  result.invariants.not_repeatable = not_repeatable;
  result.warnings.insert(result.warnings.begin(), setup.warnings.begin(), setup.warnings.end());
  for (std::string& warning : peers.warnings()) result.warnings.push_back(std::move(warning));
  std::move(recorder).move_into(result);
  if (setup.keep_history) result.history = std::move(history).take(cluster.cold_starts());
  return result;
}

}  // namespace capstan::experiment
