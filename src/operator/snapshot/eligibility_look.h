#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "model/eligibility.h"
#include "model/ids.h"
#include "model/node.h"
#include "operator/snapshot/eligibility_ids.h"
#include "operator/snapshot/node_resources.h"
#include "operator/view/pool_sales.h"

namespace capstan::op {

/// Sorts waiting pods and nodes into classes, and determines which pods may run on which nodes. An object is used for
/// one view of the cluster and keeps pointers into it.
class EligibilityLook {
 public:
  explicit EligibilityLook(EligibilityIds& ids) : ids_(ids) {}

  /// Adds a node that takes new pods.
  void add(model::NodeId id, const kube::Node& node, model::GpuKindId gpu) { nodes_.push_back({id, &node, gpu}); }
  /// Adds nodes that a pool could buy.
  void add(model::Purchase purchase, const kube::NodePool& pool, Sale sale, model::GpuKindId gpu) {
    sales_.push_back({purchase, &pool, std::move(sale), gpu});
  }
  /// Counts a pod that is bound to a node, or is about to be, against the node's resources.
  void use(const std::string& node, const kube::PodSpec& pod) { use_.add(node, pod); }

  /// Returns the class of a pod that waits, or of the pods that a template would make.
  model::PodClassId class_of(const kube::PodSpec& pod);
  /// Returns the GPU kind for the pods of a class: the one with the most GPUs on nodes that admit the pods, else the
  /// first one that a pool could buy for them. None if there is neither; ties go to the lower id.
  model::GpuKindId kind_for(model::PodClassId pods);

  /// Ends the look: sets class and resources of the nodes that were added, and returns the classes.
  model::Eligibility finish(std::map<model::NodeId, model::Node>& rows);

 private:
  struct OpenNode {
    model::NodeId id;
    const kube::Node* node = nullptr;
    model::GpuKindId gpu;
  };
  struct OpenSale {
    model::Purchase purchase;
    const kube::NodePool* pool = nullptr;
    Sale sale;
    model::GpuKindId gpu;
  };
  struct Pods {
    const kube::PodSpec* spec = nullptr;  ///< spec of one pod of the class
    model::Resources requests;
    std::optional<model::GpuKindId> kind{};  ///< result of kind_for; empty: not computed yet
  };
  struct Nodes {
    const kube::StringMap* labels = nullptr;  ///< labels of one node of the class
    const std::vector<kube::Taint>* taints = nullptr;
  };

  model::NodeClassId node_class(const kube::StringMap& labels, const std::vector<kube::Taint>& taints,
                                const std::set<std::string>& asked);

  EligibilityIds& ids_;
  NodeUse use_;
  std::vector<OpenNode> nodes_;
  std::vector<OpenSale> sales_;
  std::map<model::PodClassId, Pods> pod_classes_;
  std::map<model::NodeClassId, Nodes> node_classes_;
};

}  // namespace capstan::op
