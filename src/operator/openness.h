#pragma once

#include <memory>
#include <vector>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "model/closed.h"
#include "model/ids.h"
#include "operator/admission.h"
#include "operator/pool_sales.h"

namespace capstan::op {

/// Tells for a kind of pods which nodes, and which nodes that could be bought, are closed to them. Made once a look;
/// points into the view that it was made of.
class Openness {
 public:
  explicit Openness(const kube::StoreSnapshot<kube::Pod>& pods) : pods_(pods) {}

  /// A node that takes new pods. In the order of their ids.
  void add(model::NodeId id, const kube::Node& node, model::GpuKindId gpu) { nodes_.push_back({id, &node, gpu}); }
  /// What a pool sells.
  void add(model::Purchase purchase, const kube::NodePool& pool, Sale sale, model::GpuKindId gpu) {
    sales_.push_back({purchase, &pool, std::move(sale), gpu});
  }

  /// What is closed to `count` such pods together.
  model::Closed closed_to(const kube::PodSpec& pod, std::int64_t count) const;
  /// The GPU kind that the pods are for: the one of which most GPUs are open to them, else the first that they can be
  /// bought; none where neither is. Ties go to the lower id.
  model::GpuKindId kind_for(const model::Closed& closed) const;

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

  const kube::StoreSnapshot<kube::Pod>& pods_;
  std::vector<OpenNode> nodes_;
  std::vector<OpenSale> sales_;
  mutable std::unique_ptr<FreeResources> free_;  // made when somebody first asks
};

}  // namespace capstan::op
