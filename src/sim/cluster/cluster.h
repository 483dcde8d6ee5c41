#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/snapshot.h"
#include "ports/world.h"
#include "sim/cluster/action_queue.h"
#include "sim/cluster/binder.h"
#include "sim/cluster/cluster_config.h"
#include "sim/cluster/cluster_meter.h"
#include "sim/cluster/component.h"
#include "sim/cluster/drains.h"
#include "sim/cluster/gangs.h"
#include "sim/cluster/jobs.h"
#include "sim/cluster/node_provider.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/queueing_controller.h"
#include "sim/cluster/scraper.h"
#include "sim/cluster/serving_hook.h"
#include "sim/cluster/start_chain.h"
#include "sim/cluster/workload_controller.h"

namespace capstan::sim {

/// A simulated cluster behind the port of the control loop. It consists of parts, each with its own file and state;
/// this class connects them, hands events to them in order, and answers the control loop.
///
/// Guarantees to a controller:
/// - A claim becomes `registered` when its node takes pods, and exists as long as the node. Before that, it is capacity
///   on its way. A failed claim is in exactly one observation.
/// - A gang's ordinal is the lowest that no gang of its service has. Draining gangs count.
/// - If a replica loses a node or a pod is evicted, the workload controller replaces it by a new gang with new pods, as
///   after a scale-up. A gang that never had all its pods bound stays, and only the evicted pod is replaced, at once.
/// - A replica that changes its role keeps its gang, pods and nodes. The counters of its engine restart from zero.
/// - The age of a signal is the age at the last publication, so that rows change once per scrape interval. A
///   snapshot shows only values of published scrapes. If a scrape is lost, the old value stays and ages: first it is
///   stale, then it is missing.
/// - A replica that has never been ready is not scraped: its signals are missing.
///
/// To run it, advance the serving side to next_event(), then call advance(next_event()). observe() and submit() may be
/// called at any time in between. The same configuration, seed and calls give the same bytes.
class Cluster final : public ports::World, NodeListener, StartListener, DrainListener, LossListener, ActionExecutor {
 public:
  /// @param hook  must outlive the cluster; advance() is the first function that calls it
  Cluster(ClusterConfig config, std::uint64_t seed, ServingHook& hook);

  /// Returns the time of the next event. There always is one, because scrapes repeat.
  Instant next_event();
  /// Handles every event up to and including `to`, in the order of time, kind and sequence.
  void advance(Instant to);

  Instant now() const override { return basics_.events.now(); }
  ports::Observation observe() override;
  model::ActionToken submit(const model::Action& action) override;

  /// Returns the totals up to `end` >= now(), under the assumption that nothing happens from now to `end`.
  ClusterMeter meter(Instant end);
  /// Returns the completed cold starts, in order.
  const std::vector<ColdStart>& cold_starts() const { return starts_.cold_starts(); }
  const Jobs& jobs() const { return jobs_; }
  /// Returns the present rows, for reports and tests. A controller must use observe().
  const model::Snapshot& truth() const { return basics_.api.rows(); }

  /// Asserts that no GPU is held twice, that sums agree, and that ids refer to each other in both directions. The cost
  /// is linear in the size of the cluster.
  void check_invariants();
  std::uint64_t state_hash();

 private:
  void handle(const Event& event);

  // The calls from one part to another.
  void node_added(model::NodeId node) override { starts_.add_node(node); }
  void node_stopped(model::NodeId node) override { starts_.stop_node(node); }
  void evict(model::PodId pod, Interruption why) override;
  bool has_ready_replica(model::ServiceId service) const override { return gangs_.has_ready_replica(service); }
  void start_ended(model::GangId gang) override { gangs_.start_ended(gang); }
  void drained(model::GangId gang, DrainPurpose purpose) override { gangs_.drained(gang, purpose); }
  void replica_lost(model::ServiceId service) override { controller_.replica_lost(service); }
  std::optional<model::Reason> perform(const model::Action& action) override;
  std::optional<model::Reason> perform(const model::EvictPod& what);

  Basics basics_;
  NodeProvider nodes_;
  StartChain starts_;
  Pods pods_;
  Drains drains_;
  Scraper scraper_;
  Gangs gangs_;
  Jobs jobs_;
  QueueingController queueing_;
  Binder binder_;
  WorkloadController controller_;
  ActionQueue actions_;
};

}  // namespace capstan::sim
