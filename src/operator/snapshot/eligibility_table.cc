#include "operator/snapshot/eligibility_table.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/erase_from.h"
#include "base/known_row.h"
#include "operator/snapshot/class_text.h"
#include "operator/view/admission.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// Returns the first rule because of which Capstan does not place the pod.
model::PodRule unsupported_rule(const kube::PodSpec& pod) {
  const kube::PlacementRules& rules = pod.rules;
  if (rules.pod_affinity) return model::PodRule::pod_affinity;
  if (rules.pod_anti_affinity) return model::PodRule::pod_anti_affinity;
  if (rules.topology_spread) return model::PodRule::topology_spread;
  if (rules.node_fields) return model::PodRule::node_fields;
  return pod.scheduling_gates.empty() ? model::PodRule::none : model::PodRule::scheduling_gates;
}

std::string class_text(const kube::PodSpec& pod, const model::Resources& requests, model::PodRule unsupported,
                       const std::set<std::string>& apart_from) {
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
  for (const kube::Toleration& toleration : pod.tolerations)
    out.add(toleration.key).add(toleration.op).add(toleration.value).add(toleration.effect);
  if (pod.has_resource_claims) out.add("claims");
  out.add(model::kPodRuleNames[static_cast<std::size_t>(unsupported)].key);
  out.add("requests").add(requests.cpu_milli).add(requests.memory_mib).add(requests.storage_mib);
  for (const std::int64_t amount : requests.extended) out.add(amount);
  for (const std::string& rule : apart_from) out.add("apart").add(rule);
  return out.text();
}

/// Adds the node labels by which the pod chooses its node.
void add_asked(const kube::PodSpec& pod, std::set<std::string>& labels) {
  for (const auto& [key, value] : pod.node_selector.entries()) labels.insert(key);
  for (const std::vector<kube::Requirement>& term : pod.node_affinity) {
    for (const kube::Requirement& requirement : term) labels.insert(requirement.key);
  }
}

}  // namespace

void EligibilityTable::start_over() {
  pod_ids_.release_all();
  node_ids_.release_all();
  use_ = {};
  anti_affinity_.clear();
  followed_.clear();
  nodes_by_label_.clear();
  nodes_.clear();
  nodes_by_name_.clear();
  purchase_options_.clear();
  pod_classes_.clear();
  node_classes_.clear();
  asked_labels_.clear();
  without_class_.clear();
  with_changed_pods_.clear();
  classes_ = {};
}

void EligibilityTable::add(model::NodeId id, kube::RowId row, const kube::Node& node, model::GpuKindId gpu) {
  nodes_.insert_or_assign(row, OpenNode{id, gpu});
  for (auto& [pod_class, pods] : pod_classes_) {
    if (pods.gpus) count(pods, node, gpu, 1);
  }
  nodes_by_name_[node.meta.name] = row;
  for (auto& [label, by_value] : nodes_by_label_) {
    if (const std::string* value = node.meta.labels.find(label)) by_value[*value].insert(row);
  }
  without_class_.insert(row);
  with_changed_pods_.insert(row);
}

void EligibilityTable::remove(kube::RowId row, const kube::Node& node) {
  const auto found = nodes_.find(row);
  if (found == nodes_.end()) return;
  for (auto& [pod_class, pods] : pod_classes_) {
    if (pods.gpus) count(pods, node, found->second.gpu, -1);
  }
  if (found->second.node_class.valid()) node_ids_.release(found->second.node_class.value);
  nodes_.erase(found);
  nodes_by_name_.erase(node.meta.name);
  for (auto& [label, by_value] : nodes_by_label_) {
    if (const std::string* value = node.meta.labels.find(label)) erase_from(by_value, *value, row);
  }
  without_class_.erase(row);
  with_changed_pods_.erase(row);
}

void EligibilityTable::forget_purchase_options() {
  for (const OpenPurchaseOption& option : purchase_options_) {
    if (option.node_class.valid()) node_ids_.release(option.node_class.value);
  }
  purchase_options_.clear();
  classes_.purchases.clear();
  has_new_purchase_options_ = true;
}

void EligibilityTable::add_pod(const std::string& node, kube::RowId row, const kube::Pod& pod, const kube::Node* at) {
  use_.add(node, row, pod.spec);
  if (!pod.spec.anti_affinity.empty()) anti_affinity_.add(row, pod, node, at == nullptr ? nullptr : &at->meta.labels);
  if (const auto found = nodes_by_name_.find(node); found != nodes_by_name_.end()) {
    with_changed_pods_.insert(found->second);
  }
}

void EligibilityTable::remove_pod(const std::string& node, kube::RowId row) {
  use_.remove(node, row);
  anti_affinity_.remove(row);
  if (const auto found = nodes_by_name_.find(node); found != nodes_by_name_.end()) {
    with_changed_pods_.insert(found->second);
  }
}

model::PodClassId EligibilityTable::take_class(const kube::PodSpec& pod, std::set<std::string> apart_from,
                                               model::PodRule of_gang) {
  model::Resources requests = requests_of(pod, extended_);
  const model::PodRule unsupported = of_gang != model::PodRule::none ? of_gang : unsupported_rule(pod);
  const model::PodClassId id{pod_ids_.acquire(class_text(pod, requests, unsupported, apart_from))};
  const auto [found, is_new] = pod_classes_.try_emplace(id);
  if (!is_new) return id;
  found->second.requests = std::move(requests);
  found->second.unsupported = unsupported;
  found->second.apart_from = std::move(apart_from);
  kube::PodSpec& spec = found->second.spec;
  spec.node_selector = pod.node_selector;
  spec.node_affinity = pod.node_affinity;
  spec.tolerations = pod.tolerations;
  spec.rules = pod.rules;
  spec.scheduling_gates = pod.scheduling_gates;
  spec.has_resource_claims = pod.has_resource_claims;
  return id;
}

model::GpuKindId EligibilityTable::kind_for(model::PodClassId id, const Nodes& nodes) {
  PodClass& pods = known_row(pod_classes_, id);
  if (!pods.gpus) {
    pods.gpus.emplace();
    for (const auto& [row, open] : nodes_) count(pods, *nodes.rows.at(row), open.gpu, 1);
  }
  return kind_for(pods);
}

model::GpuKindId EligibilityTable::kind_for(const PodClass& pods) const {
  const auto most = std::ranges::max_element(*pods.gpus, {}, [](const auto& entry) { return entry.second; });
  if (most != pods.gpus->end()) return most->first;
  const auto sold = std::ranges::find_if(purchase_options_, [&](const OpenPurchaseOption& option) {
    return admits(pods.spec, option.labels, option.taints);
  });
  return sold != purchase_options_.end() ? sold->gpu : model::GpuKindId();
}

std::map<model::PodClassId, model::GpuKindId> EligibilityTable::known_kinds() const {
  std::map<model::PodClassId, model::GpuKindId> kinds;
  for (const auto& [id, pods] : pod_classes_) {
    if (pods.gpus) kinds[id] = kind_for(pods);
  }
  return kinds;
}

/// Adds the GPUs of a node to the GPUs of a pod class, if the node admits its pods. A `sign` of -1 removes them.
void EligibilityTable::count(PodClass& pods, const kube::Node& node, model::GpuKindId gpu, std::int64_t sign) {
  if (!admits(pods.spec, node.meta.labels, node.taints)) return;
  MilliGpu& sum = (*pods.gpus)[gpu];
  sum += gpus_of(node.allocatable) * sign;
  if (sum == MilliGpu{}) pods.gpus->erase(gpu);
}

bool EligibilityTable::finish(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of) {
  bool changed = false;
  for (const std::uint32_t id : pod_ids_.forget_unused()) {
    changed |= pod_classes_.erase({id}) > 0;
    if (id < classes_.pod_classes.size()) classes_.pod_classes[id] = {};
  }
  changed |= std::ranges::any_of(pod_classes_, [](const auto& entry) { return entry.second.is_new; });
  const AntiAffinity::Changes of_rules = anti_affinity_.take_changes();
  const auto has_changed = [&](const std::string& rule) { return of_rules.contains(rule); };
  follow_anti_affinity(nodes, of_rules, changed);
  const bool asks_for_others = changed && follow_asked_labels();
  const bool reclassified = classify_nodes(nodes, row_of) || asks_for_others;
  count_resources(nodes, row_of);
  classes_.pod_classes.resize(pod_ids_.end());
  for (auto& [id, pods] : pod_classes_) {
    if (reclassified || pods.is_new || std::ranges::any_of(pods.apart_from, has_changed)) {
      const model::PodClass before = classes_.pod_classes[id.value];
      write_row(id, pods);
      changed = changed || classes_.pod_classes[id.value] != before;
    }
    pods.is_new = false;
  }
  return std::exchange(has_new_purchase_options_, false) || changed || reclassified;
}

/// Finds the node labels that the present pods ask for. If these labels have changed, every node and every purchase
/// option loses its class.
bool EligibilityTable::follow_asked_labels() {
  std::set<std::string> asked;
  for (const auto& [id, pods] : pod_classes_) add_asked(pods.spec, asked);
  if (asked == asked_labels_) return false;
  asked_labels_ = std::move(asked);
  const auto forget = [&](model::NodeClassId& node_class) {
    if (node_class.valid()) node_ids_.release(node_class.value);
    node_class = {};
  };
  for (auto& [row, open] : nodes_) {
    forget(open.node_class);
    without_class_.insert(row);
  }
  for (OpenPurchaseOption& option : purchase_options_) forget(option.node_class);
  node_classes_.clear();
  return true;
}

/// Takes the class from nodes and purchase options from whose domain running pods now keep other pods away than before.
/// Only rules that concern a class of waiting pods count, and only nodes in domains that have changed are visited.
void EligibilityTable::follow_anti_affinity(const Nodes& nodes, const AntiAffinity::Changes& changes,
                                            bool has_other_classes) {
  std::set<std::pair<std::string, std::string>> changed;  // label and value
  const auto add_changes = [&](const std::string& rule) {
    const auto found = changes.find(rule);
    if (found == changes.end()) return;
    for (const std::string& value : found->second.values) changed.emplace(found->second.topology_key, value);
  };
  for (const std::string& rule : followed_) add_changes(rule);
  if (has_other_classes) {
    std::set<std::string> now;
    for (const auto& [id, pods] : pod_classes_) now.insert(pods.apart_from.begin(), pods.apart_from.end());
    std::vector<std::string> differ;
    std::ranges::set_symmetric_difference(followed_, now, std::back_inserter(differ));
    for (const std::string& rule : differ) {
      const AntiAffinity::Domains& domains = anti_affinity_.domains_of(rule);
      for (const auto& [value, pods] : domains.pods_by_value) changed.emplace(domains.topology_key, value);
    }
    followed_ = std::move(now);
  }
  for (const auto& [label, value] : changed) {
    for (const kube::RowId row : nodes_in(nodes, label, value)) {
      OpenNode& open = known_row(nodes_, row);
      if (!open.node_class.valid()) continue;
      node_ids_.release(std::exchange(open.node_class, {}).value);
      without_class_.insert(row);
    }
  }
  if (changed.empty()) return;
  for (OpenPurchaseOption& option : purchase_options_) {
    const bool is_changed = std::ranges::any_of(changed, [&](const auto& domain) {
      const std::string* value = option.labels.find(domain.first);
      return value != nullptr && *value == domain.second;
    });
    if (!option.node_class.valid() || !is_changed) continue;
    has_new_purchase_options_ = true;
    node_ids_.release(std::exchange(option.node_class, {}).value);
  }
}

/// Returns the nodes with a value of a label. The first call for a label visits all nodes.
const std::set<kube::RowId>& EligibilityTable::nodes_in(const Nodes& nodes, const std::string& label,
                                                        const std::string& value) {
  static const std::set<kube::RowId> kNone;
  const auto [known, is_new] = nodes_by_label_.try_emplace(label);
  if (is_new) {
    for (const auto& [row, open] : nodes_) {
      if (const std::string* own = nodes.rows.at(row)->meta.labels.find(label)) known->second[*own].insert(row);
    }
  }
  const auto found = known->second.find(value);
  return found == known->second.end() ? kNone : found->second;
}

/// Returns the rules whose pods keep others away from nodes with these labels.
std::set<std::string> EligibilityTable::rules_on(const kube::StringMap& labels) const {
  std::set<std::string> rules;
  for (const std::string& rule : followed_) {
    const AntiAffinity::Domains& domains = anti_affinity_.domains_of(rule);
    const std::string* value = labels.find(domains.topology_key);
    if (value != nullptr && domains.pods_by_value.contains(*value)) rules.insert(rule);
  }
  return rules;
}

/// Sets the classes of nodes and purchases that have none.
/// @return true if a class has appeared or is gone
bool EligibilityTable::classify_nodes(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of) {
  const std::size_t before = node_classes_.size();
  for (const kube::RowId row : std::exchange(without_class_, {})) {
    const kube::Node& node = *nodes.rows.at(row);
    OpenNode& open = known_row(nodes_, row);
    open.node_class = take_node_class(node.meta.labels, node.taints);
    row_of(open.id).node_class = open.node_class;
  }
  for (OpenPurchaseOption& option : purchase_options_) {
    if (!option.node_class.valid()) option.node_class = take_node_class(option.labels, option.taints);
    classes_.purchases[option.purchase] = option.node_class;
  }
  bool changed = node_classes_.size() != before;
  for (const std::uint32_t id : node_ids_.forget_unused()) changed |= node_classes_.erase({id}) > 0;
  return changed;
}

model::NodeClassId EligibilityTable::take_node_class(const kube::StringMap& labels,
                                                     const std::vector<kube::Taint>& taints) {
  ClassText text;
  for (const std::string& key : asked_labels_) {
    const std::string* value = labels.find(key);
    text.add(value != nullptr ? "=" + *value : "");
  }
  for (const kube::Taint& taint : taints) text.add(taint.key).add(taint.value).add(taint.effect);
  std::set<std::string> apart = rules_on(labels);
  for (const std::string& rule : apart) text.add("apart").add(rule);
  const model::NodeClassId id{node_ids_.acquire(text.text())};
  const auto [found, is_new] = node_classes_.try_emplace(id);
  if (!is_new) return id;
  found->second.taints = taints;
  found->second.apart = std::move(apart);
  for (const std::string& key : asked_labels_) {
    if (const std::string* value = labels.find(key)) found->second.labels.set(key, *value);
  }
  return id;
}

/// Computes the free resources of the nodes whose pods have changed, or of all nodes if a pod asks for a new extended
/// resource.
void EligibilityTable::count_resources(const Nodes& nodes, const std::function<model::Node&(model::NodeId)>& row_of) {
  const bool asks_for_new_one = std::exchange(counted_extended_, extended_.names().size()) != extended_.names().size();
  if (asks_for_new_one) {
    for (const auto& [row, open] : nodes_) with_changed_pods_.insert(row);
  }
  for (const kube::RowId row : std::exchange(with_changed_pods_, {})) {
    row_of(known_row(nodes_, row).id).available = use_.left_on(*nodes.rows.at(row), extended_);
  }
}

void EligibilityTable::write_row(model::PodClassId id, const PodClass& pods) {
  model::PodClass& row = classes_.pod_classes[id.value];
  row.requests = pods.requests;
  row.unsupported = pods.unsupported;
  row.node_classes.assign(node_ids_.end(), false);
  row.kept_apart.clear();
  row.kept_apart_by.clear();
  for (const auto& [node, nodes] : node_classes_) {
    // Capstan allocates no devices to claims, so it cannot bind a pod that has resource claims.
    if (pods.spec.has_resource_claims || !admits(pods.spec, nodes.labels, nodes.taints)) continue;
    const auto apart =
        std::ranges::find_if(pods.apart_from, [&](const std::string& rule) { return nodes.apart.contains(rule); });
    row.node_classes[node.value] = apart == pods.apart_from.end();
    if (apart == pods.apart_from.end()) continue;
    row.kept_apart.resize(node_ids_.end());
    row.kept_apart[node.value] = true;
    row.kept_apart_by = anti_affinity_.domains_of(*apart).pods.begin()->first;
  }
}

}  // namespace capstan::op
