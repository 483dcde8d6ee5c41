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

void AntiAffinity::add(kube::RowId row, const kube::Pod& pod, const std::string& node) {
  for (const kube::AntiAffinityTerm& term : pod.spec.anti_affinity) {
    if (!term.pods.present || term.topology_key.empty()) continue;  // it selects no pods
    std::set<std::string> namespaces = namespaces_of(term, pod.meta.ns);
    const std::string key = key_of(term, namespaces);
    const auto [rule, is_new] = rules_.try_emplace(key, Rule{.term = term});
    if (is_new) {
      for (const std::string& ns : namespaces) by_namespace_[ns].insert(key);
      changed_.insert(namespaces.begin(), namespaces.end());
      rule->second.namespaces = std::move(namespaces);
    }
    rule->second.holders[row] = {pod.meta.key(), node};
    by_pod_[row].insert(key);
  }
}

void AntiAffinity::remove(kube::RowId row) {
  const auto found = by_pod_.find(row);
  if (found == by_pod_.end()) return;
  for (const std::string& key : found->second) {
    const auto rule = rules_.find(key);
    rule->second.holders.erase(row);
    if (!rule->second.holders.empty()) continue;
    for (const std::string& ns : rule->second.namespaces) erase_from(by_namespace_, ns, key);
    changed_.insert(rule->second.namespaces.begin(), rule->second.namespaces.end());
    rules_.erase(rule);
  }
  by_pod_.erase(found);
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

AntiAffinity::Domains AntiAffinity::domains_of(const std::string& rule, const NodeByName& node_named) const {
  Domains domains;
  const auto found = rules_.find(rule);
  if (found == rules_.end()) return domains;
  domains.topology_key = found->second.term.topology_key;
  for (const auto& [row, holder] : found->second.holders) {
    const kube::Node* node = node_named(holder.node);
    const std::string* value = node == nullptr ? nullptr : node->meta.labels.find(domains.topology_key);
    if (value == nullptr) continue;
    if (domains.values.empty() || holder.pod < domains.first_pod) domains.first_pod = holder.pod;
    domains.values.insert(*value);
  }
  return domains;
}

}  // namespace capstan::op
