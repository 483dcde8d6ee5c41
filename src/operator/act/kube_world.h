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

/// The cluster as the loop's world. What is Active goes to `ActionExecutor`; what is in Shadow is refused with the
/// reason shadow_mode, and the decision stands in the controller for people to see.
class KubeWorld final : public ports::World {
 public:
  /// @param clock    counts from the Unix epoch, and never goes back
  /// @param effects   null: nothing acts; else outlives the world
  /// @param expected  pods that speak for replicas which somebody remembers, in his order
  explicit KubeWorld(net::Clock clock, ActionExecutor* effects = nullptr,
                     const std::vector<const kube::Pod*>& expected = {})
      : clock_(std::move(clock)), effects_(effects) {
    builder_.expect(expected);
  }

  /// Looks at the cluster: what `observe` tells from now on. To be followed by one turn of the loop.
  void look(const ClusterView& view, const Readings& readings);

  Instant now() const override { return clock_(); }
  ports::Observation observe() override;
  model::ActionToken submit(const model::Action& action) override;

  /// Where the last decision would bind a gang, were placement Active; null: it would not.
  const model::BindPods* would_bind(model::GangId gang) const {
    const auto found = would_bind_.find(gang);
    return found == would_bind_.end() ? nullptr : &found->second;
  }

  /// What decides about the services of the last look.
  control::Policies policies() const;
  const model::Snapshot& snapshot() const { return seen_.snapshot; }
  const SnapshotBuilder& objects() const { return builder_; }
  /// The pods of the last look that serve, the first of each replica. Valid as long as its view.
  const std::vector<SnapshotBuilder::Serving>& serving() const { return seen_.serving; }

 private:
  /// Without any hold a launch would be no group.
  static constexpr Duration kHoldMin = std::chrono::seconds(1);
  /// The layers below the replicas, as the fleet's policy has them.
  struct Layers {
    Mode placement = Mode::off;
    Mode nodes = Mode::off;
    Duration hold{};
    Duration consolidate_after{};
  };
  bool active(const model::Action& action) const;

  net::Clock clock_;
  ActionExecutor* effects_;
  SnapshotBuilder builder_;
  SnapshotBuilder::Seen seen_;
  Layers layers_;
  std::vector<ports::Outcome> refused_;  // to be told with the next observation
  std::map<model::GangId, model::BindPods> would_bind_;
  std::uint32_t next_token_ = 0;
  bool observed_ = false;
};

}  // namespace capstan::op
