#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actuate/action_dispatcher.h"
#include "operator/act/action_executor.h"
#include "operator/snapshot/pod_index.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Carries out actions at the API server. It maps ids of a snapshot to objects, reports to drains how many requests
/// each replica holds, finishes bind transactions of an earlier leader, and ends the hold of a node when pods use it.
class Actuator final : public ActionExecutor, private actuate::References {
 public:
  /// Everything that an actuator uses. The client outlives it.
  struct Dependencies {
    kube::Client& client;
    net::Clock clock;  ///< counts from the Unix epoch
    kube::WallClock wall;
    actuate::Fence fence;
    RandomStream random;
    std::string identity;  ///< unique to this process
  };

  explicit Actuator(Dependencies dependencies);
  ~Actuator() override;

  void begin() override;
  void set_view(const ClusterView& view, const SnapshotBuilder& objects, const Readings& readings) override;
  void submit(model::ActionToken token, const model::Action& action, const model::Snapshot& seen) override;
  std::vector<ports::Outcome> outcomes() override { return runner_->take_outcomes(); }
  void run_once() override { runner_->run_once(); }
  Instant next_deadline() const override { return runner_->next_deadline(); }
  /// Returns how often the lookup tables of a view were built. A view with the same objects shares them.
  std::size_t indexes_built() const { return indexes_built_; }

 private:
  /// Lookup tables of the view, built at their first use after an object that they contain has changed.
  struct Index {
    explicit Index(const ClusterView& view);
    Targets targets;
    PodIndex pods;
    std::map<std::string, const kube::Pod*> by_uid;
    std::set<std::string, std::less<>> used_nodes;  // nodes on which a pod or a ResourceClaim holds GPUs
  };
  const Index& index() const;

  // actuate::References
  std::optional<actuate::Target> target(model::ServiceId service) const override;
  std::optional<actuate::Ref> pod(model::PodId id) const override;
  std::optional<actuate::Binding> binding(const model::BindPods::Binding& binding) const override;
  std::optional<actuate::ClaimGroup> nodes(const model::LaunchNodes& launch) const override;
  std::vector<actuate::Ref> claims(model::ClaimGroupId group) const override;
  std::optional<actuate::Ref> claim(model::NodeId node) const override;

  const kube::Pod* find_pod(model::PodId id) const;
  std::string gpu_resource_of(model::GangId gang) const;
  void follow_pods(const kube::StoreSnapshot<kube::Pod>& before);
  void end_bindings();
  void end_holds();

  void report_loads(const Readings& readings);
  void update_routing();
  actuate::Target::Replica replica_of(const kube::Pod& pod, const actuate::DrainMeans& means) const;

  Dependencies dependencies_;
  std::unique_ptr<actuate::Runner> runner_;
  std::unique_ptr<actuate::ActionDispatcher> effects_;
  std::uint64_t begun_ = 0;
  ClusterView view_;
  mutable std::optional<Index> index_;  // index of view_
  mutable std::size_t indexes_built_ = 0;
  std::set<kube::RowId> with_bind_intent_;  // pods with the annotation of a bind transaction
  std::set<kube::RowId> held_claims_;       // NodeClaims of nodes that are held for a gang
  std::set<kube::RowId> held_nodes_;        // nodes that are held for a gang
  std::optional<Instant> first_pass_;
  std::set<std::string> served_;               // UIDs of the existing pods that were ready at some pass
  const SnapshotBuilder* objects_ = nullptr;   // objects of the last pass; null before it
  const model::Snapshot* snapshot_ = nullptr;  // non-null only during `submit`
};

}  // namespace capstan::op
