#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/store.h"
#include "model/eligibility.h"
#include "model/ids.h"
#include "model/node.h"
#include "operator/snapshot/anti_affinity.h"
#include "operator/snapshot/class_ids.h"
#include "operator/snapshot/node_resources.h"
#include "operator/view/purchase_options.h"

namespace capstan::op {

/// Sorts waiting pods and nodes into classes, determines which pods may run on which nodes, and computes the free
/// resources of nodes. The table is kept from pass to pass, and a pass updates only what has changed.
class EligibilityTable {
 public:
  using Nodes = kube::StoreSnapshot<kube::Node>;

  /// Starts a pass that reads all objects. Classes keep their ids.
  void start_over();

  /// Adds a node that takes new pods.
  void add(model::NodeId id, kube::RowId row, const kube::Node& node, model::GpuKindId gpu);
  /// Removes a node, if it takes new pods.
  void remove(kube::RowId row, const kube::Node& node);
  /// Adds nodes that a pool could buy.
  void add(model::Purchase purchase, const kube::NodePool& pool, PurchaseOption option, model::GpuKindId gpu) {
    purchase_options_.push_back({purchase, std::move(option.labels), pool.node.taints, gpu, {}});
  }

  void forget_purchase_options();

  /// Counts a pod that is bound to a node, or is about to be, against the node's resources.
  /// @param at  object of the node, for a pod with a required anti-affinity; null: there is none yet
  void add_pod(const std::string& node, kube::RowId row, const kube::Pod& pod, const kube::Node* at);
  void remove_pod(const std::string& node, kube::RowId row);
  /// Follows a change of any node, also of one that takes no new pods: running pods on it may keep others away from its
  /// domain.
  /// @param labels  its labels; null: it is gone
  void set_labels(const std::string& node, const kube::StringMap* labels) { anti_affinity_.set_node(node, labels); }
  /// Returns the rows of the pods that are counted against a node.
  std::vector<kube::RowId> pods_on(std::string_view node) const { return use_.pods_on(node); }

  /// Returns the rules of running pods that keep a pod with these labels away.
  std::set<std::string> apart_from(std::string_view ns, const kube::StringMap& labels) const {
    return anti_affinity_.rules_for(ns, labels);
  }
  /// Returns the namespaces whose pods may have other rules than before (AntiAffinity::take_changed_namespaces). The
  /// classes of these pods must be taken again.
  std::set<std::string, std::less<>> take_changed_namespaces() { return anti_affinity_.take_changed_namespaces(); }

  /// Returns the class of a pod that waits, or of the pods that a template would make, and counts one use of it.
  /// @param apart_from  rules of running pods that keep the pod away
  /// @param of_gang     rule of the whole gang because of which Capstan does not place the pod; none: only rules of the
  ///                    pod count
  model::PodClassId take_class(const kube::PodSpec& pod, std::set<std::string> apart_from,
                               model::PodRule of_gang = model::PodRule::none);
  void release(model::PodClassId pods) { pod_ids_.release(pods.value); }
  /// Returns the GPU kind for the pods of a class: the kind with the most GPUs on nodes that admit the pods, else the
  /// first kind that a pool could buy for them. Returns none if there is neither. Ties go to the lower id.
  model::GpuKindId kind_for(model::PodClassId pods, const Nodes& nodes);
  /// Returns the GPU kind of each class for which `kind_for` was called.
  std::map<model::PodClassId, model::GpuKindId> known_kinds() const;

  /// Ends a pass: sets class and resources of the nodes that were added or whose pods have changed.
  /// @param row_of      returns the row of a node, to be changed
  /// @return false if the classes are the same as at the pass before
  bool finish(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of);
  const model::Eligibility& classes() const { return classes_; }
  const std::vector<std::string>& extended_resources() const { return extended_.names(); }

 private:
  struct OpenNode {
    model::NodeId id;
    model::GpuKindId gpu;
    model::NodeClassId node_class{};
  };
  struct OpenPurchaseOption {
    model::Purchase purchase;
    kube::StringMap labels;
    std::vector<kube::Taint> taints;
    model::GpuKindId gpu;
    model::NodeClassId node_class{};
  };
  struct PodClass {
    kube::PodSpec spec;  ///< spec of its pods; only the fields that choose nodes are set
    model::Resources requests;
    model::PodRule unsupported = model::PodRule::none;
    std::set<std::string> apart_from{};  ///< rules of running pods that keep the pods away
    /// GPUs of the nodes that admit the pods, by kind. Empty: not counted yet.
    std::optional<std::map<model::GpuKindId, MilliGpu>> gpus{};
    bool is_new = true;
  };
  struct NodeClass {
    kube::StringMap labels;  ///< labels of its nodes for which pods ask
    std::vector<kube::Taint> taints;
    std::set<std::string> apart{};  ///< rules in `followed_` whose pods keep others away from its nodes
  };

  model::GpuKindId kind_for(const PodClass& pods) const;
  static void count(PodClass& pods, const kube::Node& node, model::GpuKindId gpu, std::int64_t sign);
  bool follow_asked_labels();
  void follow_anti_affinity(const Nodes& nodes, const AntiAffinity::Changes& changes, bool has_other_classes);
  const std::set<kube::RowId>& nodes_in(const Nodes& nodes, const std::string& label, const std::string& value);
  std::set<std::string> rules_on(const kube::StringMap& labels) const;
  bool classify_nodes(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of);
  model::NodeClassId take_node_class(const kube::StringMap& labels, const std::vector<kube::Taint>& taints);
  void count_resources(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of);
  void write_row(model::PodClassId id, const PodClass& pods);

  // Ids that classes and resources keep from pass to pass.
  ClassIds pod_ids_;
  ClassIds node_ids_;
  ExtendedResources extended_;

  NodeUse use_;
  std::map<kube::RowId, OpenNode> nodes_;
  std::map<std::string, kube::RowId, std::less<>> nodes_by_name_;
  std::vector<OpenPurchaseOption> purchase_options_;
  bool has_new_purchase_options_ = false;  ///< true: purchase options may have changed since the last pass
  std::map<model::PodClassId, PodClass> pod_classes_;
  std::map<model::NodeClassId, NodeClass> node_classes_;
  AntiAffinity anti_affinity_;
  std::set<std::string> followed_;  ///< rules of running pods that concern a class
  /// Nodes by a label and its value, for the labels that were the topology key of a followed rule.
  std::map<std::string, std::map<std::string, std::set<kube::RowId>>> nodes_by_label_;
  std::set<std::string> asked_labels_;       ///< labels by which pods choose their nodes
  std::set<kube::RowId> without_class_;      ///< nodes whose class is not known yet
  std::set<kube::RowId> with_changed_pods_;  ///< nodes whose free resources must be computed again
  std::size_t counted_extended_ = 0;         ///< number of extended resources that were counted
  model::Eligibility classes_;
};

}  // namespace capstan::op
