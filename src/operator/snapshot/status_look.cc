// The part of SnapshotBuilder that follows changes of pods' status and of readings.
#include <algorithm>
#include <map>
#include <utility>

#include "operator/snapshot/snapshot_builder.h"
#include "operator/snapshot/start_times.h"
#include "operator/snapshot/view_changes.h"

namespace capstan::op {
namespace {

/// Writes rows into a table. Returns the ids of the rows that were different before, ascending.
template <typename IdType, typename T>
std::vector<IdType> update(SharedTable<IdType, T>& table, std::map<IdType, T> rows) {
  std::vector<IdType> changed;
  for (auto& [id, row] : rows) {
    if (table.at(id) == row) continue;
    table.set(id, std::move(row));
    changed.push_back(id);
  }
  return changed;
}

StartTimes start_times_of(const KeptReplicas::Owner& owner) {
  std::vector<Duration> starts;
  for (const KeptReplicas::Replica& replica : owner.replicas) {
    if (replica.start) starts.push_back(*replica.start);
  }
  return StartTimes(std::move(starts));
}

}  // namespace

/// New versions of existing rows.
struct SnapshotBuilder::Updates {
  std::map<model::ServiceId, model::ServiceState> services;
  std::map<model::GangId, model::Gang> gangs;
  std::map<model::PodId, model::Pod> pods;
  std::map<model::GangId, model::ReplicaSignals> signals;  ///< signals that differ from those of the last look
};

/// Builds a snapshot from the one before if only the status of pods and the readings have changed. No moment of the
/// last look was clamped, so the time changes no row.
/// @return none if all objects have to be read
std::optional<SnapshotBuilder::Seen> SnapshotBuilder::follow(const ClusterView& view, const Readings& readings,
                                                             Instant at) {
  if (!last_build_.is_complete || at < last_.at) return std::nullopt;
  const std::optional<std::vector<PodChange>> changes = status_changes(last_build_.view, view);
  if (!changes) return std::nullopt;
  Updates updates;
  const std::vector<KeptReplicas::Place> touched = last_build_.replicas.replace(*changes);
  for (const KeptReplicas::Place place : touched) {
    read_status(last_build_.replicas.at(place), last_build_.replicas.owners()[place.owner].service.valid());
  }
  if (!follow_pods(touched, updates)) return std::nullopt;
  if (!readings.is_copy_of(last_build_.readings)) follow_readings(readings, updates);
  last_build_.view = view;
  last_build_.readings = readings;
  if (!touched.empty()) keep_serving();

  Seen seen;
  seen.delta.from_version = last_.version;
  last_.at = at;
  seen.delta.to_version = ++last_.version;
  seen.delta.services = update(last_.services, std::move(updates.services));
  seen.delta.gangs = update(last_.gangs, std::move(updates.gangs));
  seen.delta.pods = update(last_.pods, std::move(updates.pods));
  for (const auto& [id, signals] : updates.signals) {
    signals == model::ReplicaSignals{} ? last_.signals.erase(id) : last_.signals.set(id, signals);
    seen.delta.signals.push_back(id);
  }
  seen.snapshot = last_;
  seen.serving = last_build_.serving;
  return seen;
}

/// @return false if all objects have to be read
bool SnapshotBuilder::follow_pods(const std::vector<KeptReplicas::Place>& touched, Updates& updates) const {
  for (auto at = touched.begin(); at != touched.end();) {
    const std::uint32_t owner_at = at->owner;
    const KeptReplicas::Owner& owner = last_build_.replicas.owners()[owner_at];
    const StartTimes starts = start_times_of(owner);
    const auto expected = [&](const KeptReplicas::Replica& replica) {
      return owner.service.valid() ? starts.expected_ready_at(replica.group) : Instant::never();
    };
    for (; at != touched.end() && at->owner == owner_at; ++at) {
      const KeptReplicas::Replica& replica = owner.replicas[at->replica];
      if (!follow_gang(replica, expected(replica), updates)) return false;
    }
    if (!owner.service.valid()) continue;
    // When a start ends, the prediction for the replicas that still start changes.
    for (const KeptReplicas::Replica& replica : owner.replicas) {
      if (replica.is_starting && !follow_gang(replica, expected(replica), updates)) return false;
    }
    model::ServiceState state = last_.services.at(owner.service);
    state.leaving = std::min<ReplicaCount>(std::ranges::count_if(owner.replicas, &KeptReplicas::Replica::drains_first),
                                           state.desired_replicas);
    updates.services[owner.service] = state;
  }
  return true;
}

/// @return false if the gang begins or ceases to wait for a node, which changes the classes of pods
bool SnapshotBuilder::follow_gang(const KeptReplicas::Replica& replica, Instant expected_ready_at,
                                  Updates& updates) const {
  if (!replica.gang.valid()) return true;
  using enum model::Gang::Phase;
  model::Gang gang = last_.gangs.at(replica.gang);
  const model::Gang::Phase phase = phase_of(replica.group);
  if ((phase == pending) != (gang.phase == pending)) return false;
  gang.phase = phase;
  gang.expected_ready_at = phase == starting ? expected_ready_at : Instant::never();
  for (std::size_t i = 0; i < gang.pods.size(); ++i) {
    model::Pod pod = last_.pods.at(gang.pods[i]);
    pod.phase = phase_of(*replica.group.pods[i]);
    updates.pods[gang.pods[i]] = pod;
  }
  updates.gangs[replica.gang] = std::move(gang);
  return true;
}

void SnapshotBuilder::follow_readings(const Readings& readings, Updates& updates) const {
  for (const KeptReplicas::Owner& owner : last_build_.replicas.owners()) {
    for (const KeptReplicas::Replica& replica : owner.replicas) {
      if (!replica.gang.valid()) continue;
      const model::ReplicaSignals& signals = readings.of(replica.group.pods.front()->meta.uid);
      if (last_.signals_of(replica.gang) != signals) updates.signals[replica.gang] = signals;
    }
  }
}

void SnapshotBuilder::keep_serving() {
  std::vector<Serving> serving;
  for (const KeptReplicas::Owner& owner : last_build_.replicas.owners()) {
    for (const KeptReplicas::Replica& replica : owner.replicas) {
      if (replica.serves) serving.push_back({owner.service, replica.group.pods.front()});
    }
  }
  last_build_.serving = std::make_shared<const std::vector<Serving>>(std::move(serving));
}

}  // namespace capstan::op
