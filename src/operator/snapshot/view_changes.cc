#include "operator/snapshot/view_changes.h"

#include <concepts>
#include <cstddef>
#include <memory>

namespace capstan::op {
namespace {

/// Returns true if two versions of an object have the same contents. A view that cannot be compared counts as changed.
template <typename View>
bool has_same_contents(const View& before, const View& after) {
  if constexpr (std::equality_comparable<View>) {
    View other = after;
    other.meta.resource_version = before.meta.resource_version;
    other.meta.generation = before.meta.generation;
    return before == other;
  } else {
    return false;
  }
}

template <typename View>
bool is_unchanged(const kube::StoreSnapshot<View>& before, const kube::StoreSnapshot<View>& after) {
  using Row = std::shared_ptr<const View>;
  bool unchanged = true;
  after.rows.for_each_change(before.rows, [&](kube::RowId, const Row* old_row, const Row* new_row) {
    unchanged = unchanged && old_row != nullptr && new_row != nullptr && has_same_contents(**old_row, **new_row);
  });
  return unchanged;
}

bool are_others_unchanged(const ClusterView& before, const ClusterView& after) {
  const auto same = [&](auto kind) { return is_unchanged(before.*kind, after.*kind); };
  return same(&ClusterView::scalers) && same(&ClusterView::fleet) && same(&ClusterView::deployments) &&
         same(&ClusterView::stateful_sets) && same(&ClusterView::leader_worker_sets) && same(&ClusterView::nodes) &&
         same(&ClusterView::claims) && same(&ClusterView::pools) && same(&ClusterView::kai_groups) &&
         same(&ClusterView::kai_queues) && same(&ClusterView::queues) && same(&ClusterView::autoscalers) &&
         same(&ClusterView::scaled_objects) && same(&ClusterView::variant_autoscalings) &&
         same(&ClusterView::resource_slices) && same(&ClusterView::resource_claims) &&
         (before.scaled == after.scaled || *before.scaled == *after.scaled);
}

/// Returns true if the pod asks for the same, runs in the same place, and has ended in both versions or in none.
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
  other.conditions = before.conditions;
  other.restarts = before.restarts;
  return before == other;
}

}  // namespace

std::optional<std::vector<PodChange>> status_changes(const ClusterView& before, const ClusterView& after) {
  if (!are_others_unchanged(before, after)) return std::nullopt;
  using Row = std::shared_ptr<const kube::Pod>;
  std::vector<PodChange> changes;
  bool status_alone = true;
  after.pods.rows.for_each_change(before.pods.rows, [&](kube::RowId, const Row* old_row, const Row* new_row) {
    status_alone =
        status_alone && old_row != nullptr && new_row != nullptr && differs_in_status_alone(**old_row, **new_row);
    if (status_alone) changes.push_back({old_row->get(), new_row->get()});
  });
  return status_alone ? std::optional(std::move(changes)) : std::nullopt;
}

}  // namespace capstan::op
