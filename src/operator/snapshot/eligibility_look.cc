#include "operator/snapshot/eligibility_look.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "operator/view/admission.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// Joins parts into one text. Different parts never give the same text.
class ClassText {
 public:
  ClassText& add(std::string_view part) {
    text_ += std::to_string(part.size()) + ":";
    text_ += part;
    return *this;
  }
  ClassText& add(std::int64_t number) { return add(std::to_string(number)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string class_text(const kube::PodSpec& pod, const model::Resources& requests) {
  ClassText out;
  out.add("selector");
  for (const auto& [key, value] : pod.node_selector.entries()) out.add(key).add(value);
  for (const std::vector<kube::Requirement>& term : pod.node_affinity) {
    out.add("affinity");
    for (const kube::Requirement& requirement : term) {
      out.add(requirement.key).add(requirement.op).add(std::ssize(requirement.values));
      for (const std::string& value : requirement.values) out.add(value);
    }
  }
  out.add("tolerations");
  for (const kube::Toleration& each : pod.tolerations) out.add(each.key).add(each.op).add(each.value).add(each.effect);
  if (pod.has_resource_claims) out.add("claims");
  out.add("requests").add(requests.cpu_milli).add(requests.memory_mib).add(requests.storage_mib);
  for (const std::int64_t amount : requests.extended) out.add(amount);
  return out.text();
}

/// Adds the labels by which pods choose their nodes.
void add_asked(const kube::PodSpec& pod, std::set<std::string>& labels) {
  for (const auto& [key, value] : pod.node_selector.entries()) labels.insert(key);
  for (const std::vector<kube::Requirement>& term : pod.node_affinity) {
    for (const kube::Requirement& requirement : term) labels.insert(requirement.key);
  }
}

}  // namespace

model::PodClassId EligibilityLook::class_of(const kube::PodSpec& pod) {
  model::Resources requests = requests_of(pod, ids_.extended);
  const model::PodClassId id{ids_.pods.id_of(class_text(pod, requests))};
  pod_classes_.try_emplace(id, Pods{&pod, std::move(requests)});
  return id;
}

model::GpuKindId EligibilityLook::kind_for(model::PodClassId pods) {
  Pods& asked = pod_classes_.at(pods);
  if (asked.kind) return *asked.kind;
  std::map<model::GpuKindId, MilliGpu> gpus;
  for (const OpenNode& each : nodes_) {
    const kube::Node& node = *each.node;
    if (admits(*asked.spec, node.meta.labels, node.taints)) gpus[each.gpu] += gpus_of(node.allocatable);
  }
  const auto most = std::ranges::max_element(gpus, {}, [](const auto& entry) { return entry.second; });
  const auto sold = std::ranges::find_if(
      sales_, [&](const OpenSale& each) { return admits(*asked.spec, each.sale.labels, each.pool->node.taints); });
  asked.kind = most != gpus.end() ? most->first : sold != sales_.end() ? sold->gpu : model::GpuKindId();
  return *asked.kind;
}

model::NodeClassId EligibilityLook::node_class(const kube::StringMap& labels, const std::vector<kube::Taint>& taints,
                                               const std::set<std::string>& asked) {
  ClassText text;
  for (const std::string& key : asked) {
    const std::string* value = labels.find(key);
    text.add(value != nullptr ? "=" + *value : "");
  }
  for (const kube::Taint& taint : taints) text.add(taint.key).add(taint.value).add(taint.effect);
  const model::NodeClassId id{ids_.nodes.id_of(text.text())};
  node_classes_.try_emplace(id, Nodes{&labels, &taints});
  return id;
}

model::Eligibility EligibilityLook::finish(std::map<model::NodeId, model::Node>& rows) {
  std::set<std::string> asked;
  for (const auto& [id, pods] : pod_classes_) add_asked(*pods.spec, asked);
  for (const OpenNode& each : nodes_) {
    model::Node& row = rows.at(each.id);
    row.node_class = node_class(each.node->meta.labels, each.node->taints, asked);
    row.available = use_.left_on(*each.node, ids_.extended);
  }
  model::Eligibility out;
  for (const OpenSale& each : sales_) {
    out.purchases[each.purchase] = node_class(each.sale.labels, each.pool->node.taints, asked);
  }
  out.pod_classes.resize(ids_.pods.end());
  for (const auto& [id, pods] : pod_classes_) {
    model::PodClass& row = out.pod_classes[id.value];
    row.requests = pods.requests;
    row.node_classes.resize(ids_.nodes.end());
    for (const auto& [node, nodes] : node_classes_) {
      // Capstan allocates no devices to claims, so it can bind a pod that has any to no node.
      row.node_classes[node.value] =
          !pods.spec->has_resource_claims && admits(*pods.spec, *nodes.labels, *nodes.taints);
    }
  }
  ids_.pods.forget_unseen();
  ids_.nodes.forget_unseen();
  return out;
}

}  // namespace capstan::op
