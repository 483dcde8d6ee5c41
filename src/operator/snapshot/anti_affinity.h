#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/store.h"

namespace capstan::op {

/// The required anti-affinity of the pods that have a node. Kubernetes' scheduler keeps a new pod away from the domain
/// of a running pod whose rule selects the new one. Only pods with such a rule are kept. Pods with equal rules share
/// one entry, whose key contains everything that distinguishes it.
class AntiAffinity {
 public:
  /// The part of a cluster that the pods of a rule keep free of the pods that it selects.
  struct Domains {
    std::string topology_key;      ///< node label
    std::set<std::string> values;  ///< values of the label on the nodes of the pods
    std::string first_pod;         ///< one of these pods: the one whose namespace and name come first
  };
  /// Returns a node by its name, or null.
  using NodeByName = std::function<const kube::Node*(const std::string&)>;

  void clear() { *this = {}; }
  /// Adds a pod that has a node. The caller removes it before it changes.
  void add(kube::RowId row, const kube::Pod& pod, const std::string& node);
  void remove(kube::RowId row);

  /// Returns the keys of the rules that select a pod with these labels.
  std::set<std::string> rules_for(std::string_view ns, const kube::StringMap& labels) const;
  Domains domains_of(const std::string& rule, const NodeByName& node_named) const;

  /// Returns the namespaces of which a rule has appeared, or is gone, since the last call. An empty name stands for all
  /// namespaces.
  std::set<std::string, std::less<>> take_changed_namespaces() { return std::exchange(changed_, {}); }

 private:
  struct Holder {
    std::string pod;  ///< namespace and name
    std::string node;
  };
  struct Rule {
    kube::AntiAffinityTerm term;
    std::set<std::string> namespaces{};  ///< an empty name stands for all namespaces
    std::map<kube::RowId, Holder> holders{};
  };
  using Keys = std::set<std::string>;

  std::map<std::string, Rule> rules_;                      ///< rules by key
  std::map<std::string, Keys, std::less<>> by_namespace_;  ///< keys of rules
  std::map<kube::RowId, Keys> by_pod_;                     ///< keys of the rules of each pod
  std::set<std::string, std::less<>> changed_;
};

}  // namespace capstan::op
