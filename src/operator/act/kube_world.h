#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "control/controller.h"
#include "net/monotonic.h"
#include "operator/act/action_executor.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"
#include "ports/world.h"

namespace capstan::op {

/// The world of the decision loop: the cluster. An action of an Active layer goes to the `ActionExecutor`. An action of
/// a layer in Shadow is refused with the reason shadow_mode; the controller keeps the decision, so that people can see
/// it.
class KubeWorld final : public ports::World {
 public:
  /// @param clock    counts from the Unix epoch, and never goes back
  /// @param effects   outlives the world; null: every action is refused
  /// @param expected  first pods of the replicas in a checkpoint; the world gives ids to their gangs in this order
  explicit KubeWorld(net::Clock clock, ActionExecutor* effects = nullptr,
                     const std::vector<const kube::Pod*>& expected = {})
      : clock_(std::move(clock)), effects_(effects) {
    builder_.expect(expected);
  }

  /// Sets the state of the cluster that `observe` will return. The controller must tick once before the next call.
  void set_view(const ClusterView& view, const Readings& readings);

  Instant now() const override { return clock_(); }
  ports::Observation observe() override;
  model::ActionToken submit(const model::Action& action) override;

  /// Returns the binding that the last decision chose for the gang, if this binding was refused with shadow_mode; null
  /// otherwise.
  const model::BindPods* would_bind(model::GangId gang) const {
    const auto found = would_bind_.find(gang);
    return found == would_bind_.end() ? nullptr : &found->second;
  }

  /// Returns the policies for the services of the last pass.
  control::Policies policies() const;
  const model::Snapshot& snapshot() const { return seen_.snapshot; }
  const SnapshotBuilder& objects() const { return builder_; }
  /// Returns the first pod of each replica that served at the last pass. The pods belong to the view of that pass.
  const std::vector<SnapshotBuilder::ServingPod>& serving() const { return *seen_.serving; }

 private:
  /// Shortest hold time of a launch. Without a hold time, the nodes of a launch would not form a group
  /// (model::LaunchNodes).
  static constexpr Duration kHoldMin = std::chrono::seconds(1);
  /// The settings of placement and nodes from the FleetPolicy.
  struct Layers {
    Mode placement = Mode::off;
    Mode nodes = Mode::off;
    Duration hold{};
    Duration consolidate_after{};
  };
  bool may_carry_out(const model::Action& action) const;

  net::Clock clock_;
  ActionExecutor* effects_;
  SnapshotBuilder builder_;
  SnapshotBuilder::Output seen_;
  Layers layers_;
  std::vector<ports::Outcome> refused_;  // outcomes for the next observation
  std::map<model::GangId, model::BindPods> would_bind_;
  std::uint32_t next_token_ = 0;
  bool observed_ = false;
};

}  // namespace capstan::op
