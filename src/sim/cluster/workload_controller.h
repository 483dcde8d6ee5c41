#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/cluster/binder.h"
#include "sim/cluster/component.h"
#include "sim/cluster/gangs.h"

namespace capstan::sim {

/// The workload controller: keeps the desired replica count of each workload, and creates or retires gangs to match it.
class WorkloadController : Component {
 public:
  WorkloadController(Basics& basics, std::uint64_t seed, Gangs& gangs);

  /// Creates the replicas that exist at the start, in the order of the configuration.
  void start_initial(Binder& binder);

  std::optional<model::Reason> perform(const model::SetReplicas& what);
  std::optional<model::Reason> perform(const model::ConvertReplica& what);
  /// Schedules the replacement of a lost replica.
  void replica_lost(model::ServiceId service) { schedule_reconcile(service); }
  /// Wakes or creates the replicas that the workload object of the service lacks.
  void reconcile(model::ServiceId service);

  /// Returns the replicas on which a scale-down is based: the ones that it names, and the ready ones. The scale-down
  /// is refused if one of them is lost before it takes effect. The replacement of the lost replica would then have just
  /// begun to start, and the scale-down would end a ready replica instead.
  std::vector<model::GangId> basis_of(const model::SetReplicas& what) const;

  void add_draws(StateHash& hash) const { add_draw(hash, draws_); }

 private:
  struct Workload {
    ReplicaCount desired = 0;
    Instant raised_at;  ///< when `desired` last rose
  };

  void set_desired(model::ServiceId service, ReplicaCount replicas);
  void schedule_reconcile(model::ServiceId service);
  ReplicaCount lacking(model::ServiceId service) const;
  void wake_sleepers(model::ServiceId service);
  void lower(model::ServiceId service, const std::vector<model::GangId>& named);

  Gangs& gangs_;
  RandomStream draws_;
  std::map<model::ServiceId, Workload> workloads_;
};

}  // namespace capstan::sim
