#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actuate/effects.h"
#include "operator/cluster_view.h"
#include "operator/effects.h"
#include "operator/pod_index.h"
#include "operator/snapshot_builder.h"

namespace capstan::op {

/// Effects at the API server: puts the ids of a snapshot into references, and feeds drains with what replicas hold. It
/// touches the targets of scalers that are Active, and no others.
class Actuator final : public Effects, private actuate::References {
 public:
  /// What it stands on; the client outlives it.
  struct Base {
    kube::Client& client;
    net::Clock clock;  ///< counts from the Unix epoch
    kube::WallClock wall;
    actuate::Fence fence;
    RandomStream random;
    std::string identity;  ///< of this process alone
  };

  explicit Actuator(Base base);
  ~Actuator() override;

  void begin() override;
  void look(const ClusterView& view, const SnapshotBuilder& objects, const Readings& readings) override;
  void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) override;
  std::vector<ports::Outcome> outcomes() override { return runner_->take_outcomes(); }
  void turn() override { runner_->turn(); }
  Instant next_deadline() const override { return runner_->next_deadline(); }

 private:
  /// What is looked up in the view, made once a look, and only where something is Active.
  struct Index {
    explicit Index(const ClusterView& view) : targets(view), pods(view.pods) {}
    Targets targets;
    PodIndex pods;
  };

  // References: what is not acted upon has none.
  std::optional<actuate::Target> target(model::ServiceId service, model::VariantId variant) const override;
  std::optional<actuate::Ref> pod(model::PodId) const override { return std::nullopt; }
  std::optional<actuate::Binding> binding(const model::BindPods::Binding&) const override { return std::nullopt; }
  std::optional<actuate::ClaimGroup> nodes(const model::LaunchNodes&) const override { return std::nullopt; }
  std::vector<actuate::Ref> claims(model::ClaimGroupId) const override { return {}; }
  std::optional<actuate::Ref> claim(model::NodeId) const override { return std::nullopt; }

  void feed(const Readings& readings);
  void keep_serving();
  actuate::Target::Replica replica_of(const kube::Pod& pod, const actuate::DrainMeans& means) const;

  Base base_;
  std::unique_ptr<actuate::Runner> runner_;
  std::unique_ptr<actuate::Effects> effects_;
  std::uint64_t begun_ = 0;
  ClusterView view_;
  std::optional<Index> index_;  // of view_
  std::optional<Instant> first_look_;
  std::set<std::string> served_;               // uids of pods that were once seen ready
  const SnapshotBuilder* objects_ = nullptr;   // from a look on, as long as its decision lasts
  const model::Snapshot* snapshot_ = nullptr;  // while something is submitted
};

}  // namespace capstan::op
