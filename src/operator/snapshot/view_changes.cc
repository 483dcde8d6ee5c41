#include "operator/snapshot/view_changes.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "actuate/scale_target.h"

namespace capstan::op {
namespace {

// The functions `clear_status` clear the fields on which no row of a snapshot depends. Every other field counts.

template <typename View>
void clear_status(View& view) {
  view.meta.resource_version.clear();
  view.meta.generation = 0;
}

void clear_status(kube::Workload& workload) {
  clear_status<>(workload);
  workload.current_replicas = workload.ready_replicas = workload.updated_replicas = workload.observed_generation = 0;
  workload.conditions.clear();
}

void clear_status(InferenceScaler& scaler) {
  clear_status<>(scaler);
  scaler.conditions.clear();
  scaler.last_decision = {};
}

void clear_status(FleetPolicy& fleet) {
  clear_status<>(fleet);
  fleet.conditions.clear();
}

void clear_status(Queue& queue) {
  clear_status<>(queue);
  queue.conditions.clear();
}

void clear_status(kube::HorizontalPodAutoscaler& autoscaler) {
  clear_status<>(autoscaler);
  autoscaler.current_replicas = autoscaler.desired_replicas = 0;
  autoscaler.conditions.clear();
}

void clear_status(kube::ScaledObject& scaled) {
  clear_status<>(scaled);
  scaled.conditions.clear();
}

void clear_status(kube::NodePool& pool) {
  clear_status<>(pool);
  pool.in_use = {};
}

template <typename View>
View without_status(View view) {
  clear_status(view);
  return view;
}

/// Calls `visit(row, before, after)` for each row in which more than the status has changed. A missing object is null.
template <typename View, typename Visit>
void each_change(const kube::StoreSnapshot<View>& before, const kube::StoreSnapshot<View>& after, Visit visit) {
  using Row = std::shared_ptr<const View>;
  after.rows.for_each_change(before.rows, [&](kube::RowId row, const Row* old_row, const Row* new_row) {
    if (old_row != nullptr && new_row != nullptr && without_status(**old_row) == without_status(**new_row)) return;
    visit(row, old_row == nullptr ? nullptr : old_row->get(), new_row == nullptr ? nullptr : new_row->get());
  });
}

/// Lists every row that was set or erased, also if only the version of its object has changed.
template <typename View, typename Change>
void list_rows(const kube::StoreSnapshot<View>& before, const kube::StoreSnapshot<View>& after,
               std::vector<Change>& out) {
  using Row = std::shared_ptr<const View>;
  after.rows.for_each_change(before.rows, [&](kube::RowId row, const Row*, const Row* new_row) {
    out.push_back({row, new_row == nullptr ? nullptr : new_row->get()});
  });
}

template <typename View>
bool is_unchanged(const kube::StoreSnapshot<View>& before, const kube::StoreSnapshot<View>& after) {
  bool unchanged = true;
  each_change(before, after, [&](kube::RowId, const View*, const View*) { unchanged = false; });
  return unchanged;
}

/// Finds the workloads that have changed. The list of targets may have changed, too, if a workload has another owner,
/// or if more than its status, desired replicas, template, labels and annotations has changed.
class WorkloadChanges {
 public:
  explicit WorkloadChanges(ViewChanges& out) : out_(out) {}

  void compare(const kube::StoreSnapshot<kube::Workload>& before, const kube::StoreSnapshot<kube::Workload>& after) {
    using Row = std::shared_ptr<const kube::Workload>;
    after.rows.for_each_change(before.rows, [&](kube::RowId, const Row* old_row, const Row* new_row) {
      if (old_row == nullptr || new_row == nullptr) {
        out_.targets = true;
      } else {
        compare(**old_row, **new_row);
      }
    });
  }

  void compare(const ScaledTargets& before, const ScaledTargets& after) {
    const auto is_same = [](const ScaledTargets::Target& a, const ScaledTargets::Target& b) {
      return a.resource == b.resource;
    };
    if (!std::ranges::equal(before.targets, after.targets, is_same)) {
      out_.targets = true;
      return;
    }
    for (std::size_t i = 0; i < after.targets.size(); ++i) {
      compare(before.targets[i].workload, after.targets[i].workload);
    }
  }

 private:
  void compare(const kube::Workload& before, const kube::Workload& after) {
    const std::optional<WorkloadChange> change = change_of(before, after);
    out_.targets = out_.targets || !change;
    if (change) out_.workloads.push_back(*change);
  }

  static std::optional<WorkloadChange> change_of(const kube::Workload& before, const kube::Workload& after) {
    WorkloadChange change{&before, &after};
    kube::Workload old_one = without_status(before);
    kube::Workload new_one = without_status(after);
    change.status_alone = old_one == new_one;
    if (change.status_alone) return change;
    if (actuate::other_owner(before) != actuate::other_owner(after)) return std::nullopt;
    old_one.replicas = new_one.replicas;
    old_one.replicas_managers = new_one.replicas_managers;
    if (old_one == new_one) return change;
    change.has_other_template = true;
    old_one.meta.labels = new_one.meta.labels;
    old_one.meta.annotations = new_one.meta.annotations;
    old_one.pod_labels = new_one.pod_labels;
    old_one.pod = new_one.pod;
    old_one.leader = new_one.leader;
    return old_one == new_one ? std::optional(change) : std::nullopt;
  }

  ViewChanges& out_;
};

/// Returns true if only the status of a pod has changed, and the change affects neither its nominated node nor its end.
bool differs_in_status_alone(const kube::Pod& before, const kube::Pod& after) {
  if (before.over() != after.over()) return false;
  kube::Pod other = after;
  other.meta.resource_version = before.meta.resource_version;
  other.meta.generation = before.meta.generation;
  other.meta.deletion_at = before.meta.deletion_at;
  other.phase = before.phase;
  other.reason = before.reason;
  other.ip = before.ip;
  other.started_at = before.started_at;
  other.initialized_at = before.initialized_at;
  other.containers_started_at = before.containers_started_at;
  other.conditions = before.conditions;
  other.restarts = before.restarts;
  return before == other;
}

}  // namespace

std::optional<ViewChanges> changes_between(const ClusterView& before, const ClusterView& after) {
  if (!is_unchanged(before.fleet, after.fleet)) return std::nullopt;
  ViewChanges changes;
  WorkloadChanges workloads(changes);
  workloads.compare(before.deployments, after.deployments);
  workloads.compare(before.stateful_sets, after.stateful_sets);
  workloads.compare(before.leader_worker_sets, after.leader_worker_sets);
  if (before.scaled != after.scaled) workloads.compare(*before.scaled, *after.scaled);
  each_change(before.scalers, after.scalers,
              [&](kube::RowId row, const InferenceScaler*, const InferenceScaler*) { changes.scalers.insert(row); });
  changes.targets = changes.targets || !changes.scalers.empty() ||
                    !is_unchanged(before.autoscalers, after.autoscalers) ||
                    !is_unchanged(before.scaled_objects, after.scaled_objects) ||
                    !is_unchanged(before.variant_autoscalings, after.variant_autoscalings);
  changes.queues = !is_unchanged(before.queues, after.queues) || !is_unchanged(before.kai_queues, after.kai_queues);
  changes.claims = !is_unchanged(before.claims, after.claims);
  changes.pools = !is_unchanged(before.pools, after.pools);
  each_change(before.nodes, after.nodes, [&](kube::RowId row, const kube::Node* old_one, const kube::Node* new_one) {
    changes.nodes.push_back({row, old_one, new_one});
  });
  each_change(before.kai_groups, after.kai_groups,
              [&](kube::RowId, const kube::KaiPodGroup* old_one, const kube::KaiPodGroup* new_one) {
                changes.groups.push_back({old_one, new_one});
              });
  // Rows refer to the objects of slices and claims, so each new version counts.
  list_rows(before.resource_slices, after.resource_slices, changes.slices);
  list_rows(before.resource_claims, after.resource_claims, changes.resource_claims);
  using Row = std::shared_ptr<const kube::Pod>;
  after.pods.rows.for_each_change(before.pods.rows, [&](kube::RowId row, const Row* old_row, const Row* new_row) {
    PodChange change{row, old_row == nullptr ? nullptr : old_row->get(), new_row == nullptr ? nullptr : new_row->get()};
    change.status_alone =
        change.before != nullptr && change.after != nullptr && differs_in_status_alone(*change.before, *change.after);
    changes.pods.push_back(change);
  });
  return changes;
}

}  // namespace capstan::op
