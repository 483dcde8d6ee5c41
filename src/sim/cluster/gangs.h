#pragma once

#include <cstdint>
#include <map>
#include <set>
#include "base/known_row.h"

#include "sim/cluster/component.h"
#include "sim/cluster/drains.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/scraper.h"
#include "sim/cluster/serving_hook.h"
#include "sim/cluster/sleepers.h"
#include "sim/cluster/start_chain.h"

namespace capstan::sim {

class LossListener {
 public:
  virtual ~LossListener() = default;
  /// Reports that a replica was killed. The workload controller creates another one if the service then lacks one.
  virtual void replica_lost(model::ServiceId service) = 0;
};

/// The gangs and their lifecycle: a gang is created, bound, starts, serves, and then drains, sleeps, converts or ends.
class Gangs : Component {
 public:
  /// The parts that carry out the steps of the lifecycle.
  struct Parts {
    ServingHook& hook;
    Pods& pods;
    StartChain& starts;
    Drains& drains;
    Scraper& scraper;
  };
  Gangs(Basics& basics, const Parts& parts, LossListener& listener);

  const std::set<model::GangId>& gangs_of(model::ServiceId service) const { return known_row(by_service_, service); }
  bool is_ready(model::GangId id) const { return known_row(gangs_, id).stage == Stage::ready; }
  bool is_asleep(model::GangId id) const { return sleepers_.is_asleep(id); }
  /// Returns true if the gang is neither asleep nor draining in order to sleep or end.
  bool stays(model::GangId id) const;
  ReplicaCount active_count(model::ServiceId service) const;
  bool has_ready_replica(model::ServiceId service) const;

  /// @param decided_at  when the replica count was raised
  model::GangId create(model::ServiceId service, Instant decided_at);
  /// Notes that pods of the gang were bound. Starts the gang if all are.
  /// @param is_spread  its pods are in several domains of its level
  void note_bound(model::GangId id, bool is_spread);
  /// Makes a gang with bound pods serve at once, for a replica that served before the run began.
  void serve_warm(model::GangId id);
  void start_ended(model::GangId id);

  /// Ends a gang for which stays() is true. A ready gang drains first, and then sleeps if its service may have one more
  /// sleeping replica.
  void retire(model::GangId id);
  void wake(model::GangId id);
  /// Moves a ready gang to another service at once. Before the gang serves there, it finishes the requests that it
  /// holds.
  void convert(model::GangId id, model::ServiceId to);
  void drained(model::GangId id, DrainPurpose purpose);
  void end_sleep(model::GangId id);

  /// Removes a bound pod. If the gang still waits for bindings, the pod is replaced by a new one. Otherwise the whole
  /// gang is killed.
  void evict(model::PodId id, Interruption why);

  /// Adds the GPU time of all gangs that is not in the shared account yet, and the number of deferred gangs.
  void add_unaccounted(GpuAccount& account, ClusterMeter& total, Instant end) const;
  std::size_t size() const { return gangs_.size(); }
  void check_invariants() const;

 private:
  enum class Stage : std::uint8_t {
    binding,
    starting,
    ready,
    draining,
    sleeping,
    converting,  ///< belongs to the new service already, and finishes the requests of the old one
  };
  struct Record {
    Stage stage = Stage::binding;
    Instant deferred_at;  ///< a gang that is pending after this time counts as deferred
    Instant ready_since;
    bool is_spread = false;  ///< its pods are in several domains of its level
  };

  std::uint32_t free_ordinal(model::ServiceId service) const;
  void serve(model::GangId id);
  void begin_drain(model::GangId id);
  void fall_asleep(model::GangId id);
  void resume(model::GangId id, StartChain::Resume after, const Latency& latency);
  void remove(model::GangId id);
  void kill(model::GangId id, Interruption why);
  void end_serving(model::GangId id);
  void add_served(GpuAccount& account, model::GangId id, Instant end) const;

  ServingHook& hook_;
  Pods& pods_;
  StartChain& starts_;
  Drains& drains_;
  Scraper& scraper_;
  LossListener& listener_;
  Sleepers sleepers_;
  std::map<model::GangId, Record> gangs_;
  std::map<model::ServiceId, std::set<model::GangId>> by_service_;
};

}  // namespace capstan::sim
