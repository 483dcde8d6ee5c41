#include "operator/snapshot/anti_affinity.h"

#include <utility>

#include "base/erase_from.h"
#include "base/known_row.h"
#include "operator/snapshot/class_text.h"

namespace capstan::op {
namespace {

/// Returns the namespaces whose pods a term selects. The labels of namespaces are not read, so a term with a selector
/// of namespaces counts for all of them.
std::set<std::string> namespaces_of(const kube::AntiAffinityTerm& term, const std::string& own) {
  if (term.selects_namespaces) return {""};
  if (term.namespaces.empty()) return {own};
  return {term.namespaces.begin(), term.namespaces.end()};
}

std::string key_of(const kube::AntiAffinityTerm& term, const std::set<std::string>& namespaces) {
  ClassText key;
  key.add(term.topology_key);
  for (const std::string& ns : namespaces) key.add("namespace").add(ns);
  for (const auto& [label, value] : term.pods.labels.entries()) key.add("label").add(label).add(value);
  for (const kube::Requirement& requirement : term.pods.expressions) {
    key.add("expression").add(requirement.key).add(requirement.op).add(std::ssize(requirement.values));
    for (const std::string& value : requirement.values) key.add(value);
  }
  return key.text();
}

}  // namespace

void AntiAffinity::add(kube::RowId row, const kube::Pod& pod, const std::string& node, const kube::StringMap* labels) {
  Holder holder{.pod = pod.meta.key(), .node = node, .rules = {}};
  for (const kube::AntiAffinityTerm& term : pod.spec.anti_affinity) {
    if (!term.pods.present || term.topology_key.empty()) continue;  // it selects no pods
    std::set<std::string> namespaces = namespaces_of(term, pod.meta.ns);
    const std::string key = key_of(term, namespaces);
    const auto [rule, is_new] = rules_.try_emplace(key, Rule{.term = term});
    if (is_new) {
      for (const std::string& ns : namespaces) by_namespace_[ns].insert(key);
      changed_namespaces_.insert(namespaces.begin(), namespaces.end());
      rule->second.namespaces = std::move(namespaces);
      rule->second.domains.topology_key = term.topology_key;
    }
    rule->second.values[row];
    holder.rules.insert(key);
  }
  if (holder.rules.empty()) return;
  by_node_[node].insert(row);
  const Keys& keys = holders_.insert_or_assign(row, std::move(holder)).first->second.rules;
  for (const std::string& key : keys) set_value(key, row, labels);
}

void AntiAffinity::remove(kube::RowId row) {
  const auto holder = holders_.find(row);
  if (holder == holders_.end()) return;
  for (const std::string& key : holder->second.rules) {
    set_value(key, row, nullptr);
    const auto rule = rules_.find(key);
    rule->second.values.erase(row);
    if (!rule->second.values.empty()) continue;
    for (const std::string& ns : rule->second.namespaces) erase_from(by_namespace_, ns, key);
    changed_namespaces_.insert(rule->second.namespaces.begin(), rule->second.namespaces.end());
    rules_.erase(rule);
  }
  erase_from(by_node_, holder->second.node, row);
  holders_.erase(holder);
}

void AntiAffinity::set_node(const std::string& node, const kube::StringMap* labels) {
  const auto rows = by_node_.find(node);
  if (rows == by_node_.end()) return;
  for (const kube::RowId row : rows->second) {
    for (const std::string& key : known_row(holders_, row).rules) set_value(key, row, labels);
  }
}

/// Moves a pod of a rule to the domain of its node.
void AntiAffinity::set_value(const std::string& key, kube::RowId row, const kube::StringMap* labels) {
  Rule& rule = known_row(rules_, key);
  Domains& domains = rule.domains;
  std::optional<std::string>& value = known_row(rule.values, row);
  const std::string* found = labels == nullptr ? nullptr : labels->find(domains.topology_key);
  if (found == nullptr ? !value : value == *found) return;
  Touched& touched = touched_.try_emplace(key, Touched{domains.topology_key}).first->second;
  const std::pair pod{known_row(holders_, row).pod, row};
  if (value) {
    touched.values.try_emplace(*value, true);
    const auto count = domains.pods_by_value.find(*value);
    if (--count->second == 0) domains.pods_by_value.erase(count);
    domains.pods.erase(pod);
    value.reset();
  }
  if (found == nullptr) return;
  touched.values.try_emplace(*found, domains.pods_by_value.contains(*found));
  ++domains.pods_by_value[*found];
  domains.pods.insert(pod);
  value = *found;
}

std::set<std::string> AntiAffinity::rules_for(std::string_view ns, const kube::StringMap& labels) const {
  std::set<std::string> selecting;
  for (const std::string_view scope : {std::string_view(), ns}) {
    const auto keys = by_namespace_.find(scope);
    if (keys == by_namespace_.end()) continue;
    for (const std::string& key : keys->second) {
      if (known_row(rules_, key).term.pods.matches(labels)) selecting.insert(key);
    }
  }
  return selecting;
}

const AntiAffinity::Domains& AntiAffinity::domains_of(const std::string& rule) const {
  static const Domains kNone;
  const auto found = rules_.find(rule);
  return found == rules_.end() ? kNone : found->second.domains;
}

AntiAffinity::Changes AntiAffinity::take_changes() {
  Changes changes;
  for (auto& [key, touched] : std::exchange(touched_, {})) {
    const Domains& now = domains_of(key);
    Change& change = changes[key];
    change.topology_key = touched.topology_key;
    for (const auto& [value, had_pods] : touched.values) {
      if (now.pods_by_value.contains(value) != had_pods) change.values.insert(value);
    }
  }
  return changes;
}

}  // namespace capstan::op
