// A replica that is given up may sleep, on its GPUs and with its engine's weights in the node's memory, before it goes.
#include <algorithm>

#include "base/assert.h"
#include "sim/cluster/cluster.h"

namespace capstan::sim {

bool Cluster::may_sleep(const WorkloadKey& key) const {
  const std::set<model::GangId>& gangs = workloads_.at(key).gangs;
  const auto sleeps = [&](model::GangId id) { return sleeping_.contains(id) || gangs_.at(id).to_sleep; };
  return std::ranges::count_if(gangs, sleeps) < start_of(key).sleep.most;
}

void Cluster::fall_asleep(model::GangId id) {
  const bool drained = draining_.erase(id) > 0;
  CAPSTAN_ASSERT(drained);
  sleeping_.insert(id);
  GangRecord& record = gangs_.at(id);
  record.stage = Stage::sleeping;
  record.to_sleep = false;
  record.asleep_until = now_ + start_of({record.start.service, record.start.variant}).sleep.longest;
  schedule(record.asleep_until, EventKind::sleep_over, id.value);
  forget_readings(id);
  set_pod_states(id, GpuState::sleeping);
  set_phases(id, model::Gang::Phase::sleeping, model::Pod::Phase::starting);
}

void Cluster::sleep_over(model::GangId id) {
  if (sleeping_.contains(id) && now_ >= gangs_.at(id).asleep_until) remove_gang(id);
}

/// Before another replica is made, one that sleeps is woken.
void Cluster::wake_sleepers(const WorkloadKey& key) {
  const Workload& workload = workloads_.at(key);
  ReplicaCount lacking = workload.desired - alive(workload);
  for (const model::GangId id : workload.gangs) {
    if (lacking <= 0) return;
    if (!sleeping_.contains(id)) continue;
    wake(id);
    --lacking;
  }
}

void Cluster::wake(model::GangId id) {
  sleeping_.erase(id);
  model::Gang gang = seen_.gangs.at(id);
  const VariantStart& start = start_of({gang.service, gang.variant});
  gangs_.at(id).woken = true;
  gang.resumed = true;
  gang.expected_ready_at = now_ + start.sleep.wake.midpoint();
  set(id, std::move(gang));
  set_phases(id, model::Gang::Phase::starting, model::Pod::Phase::starting);
  resume_within(id, start.sleep.wake);
}

}  // namespace capstan::sim
