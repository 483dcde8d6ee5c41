#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kube/pod_view.h"
#include "kube/store.h"

namespace capstan::op {

/// The required anti-affinity of the pods that have a node. Kubernetes' scheduler keeps a new pod away from the domain
/// of a running pod whose rule selects the new one. Only pods with such a rule are kept. Pods with equal rules share
/// one entry, whose key contains everything that distinguishes it. The domains of each rule follow the changes of pods
/// and nodes one by one.
class AntiAffinity {
 public:
  /// The part of a cluster that the pods of a rule keep free of the pods that it selects.
  struct Domains {
    std::string topology_key;                            ///< node label
    std::map<std::string, std::size_t> pods_by_value;    ///< number of the pods by the value of the label on their node
    std::set<std::pair<std::string, kube::RowId>> pods;  ///< namespace, name and row of these pods
  };
  /// The changes of a rule since the last call of take_changes().
  struct Change {
    std::string topology_key;
    std::set<std::string> values;  ///< values of the label that have their first pod, or have lost the last one
  };
  using Changes = std::map<std::string, Change>;  ///< by the key of the rule

  void clear() { *this = {}; }
  /// Adds a pod that has a node. The caller removes it before it changes.
  /// @param labels  labels of the node; null: there is no such node yet
  void add(kube::RowId row, const kube::Pod& pod, const std::string& node, const kube::StringMap* labels);
  void remove(kube::RowId row);
  /// Follows a change of a node. Only the pods on it are visited.
  /// @param labels  its labels; null: it is gone
  void set_node(const std::string& node, const kube::StringMap* labels);

  /// Returns the keys of the rules that select a pod with these labels.
  std::set<std::string> rules_for(std::string_view ns, const kube::StringMap& labels) const;
  const Domains& domains_of(const std::string& rule) const;

  /// Returns the namespaces of which a rule has appeared, or is gone, since the last call. An empty name stands for all
  /// namespaces.
  std::set<std::string, std::less<>> take_changed_namespaces() { return std::exchange(changed_namespaces_, {}); }
  /// Returns the rules whose pods, or the nodes of these, have changed since the last call.
  Changes take_changes();

 private:
  using Keys = std::set<std::string>;
  struct Holder {
    std::string pod;  ///< namespace and name
    std::string node;
    Keys rules;
  };
  struct Rule {
    kube::AntiAffinityTerm term;
    std::set<std::string> namespaces{};  ///< an empty name stands for all namespaces
    /// The value of the label on the node of each pod. None: the node lacks the label, or does not exist.
    std::map<kube::RowId, std::optional<std::string>> values{};
    Domains domains{};
  };
  /// The values of a rule that were touched since the last call of take_changes().
  struct Touched {
    std::string topology_key;
    std::map<std::string, bool> values{};  ///< true: the value had pods at that call
  };

  void set_value(const std::string& key, kube::RowId row, const kube::StringMap* labels);

  std::map<std::string, Rule> rules_;                                  ///< rules by key
  std::map<std::string, Keys, std::less<>> by_namespace_;              ///< keys of rules
  std::map<kube::RowId, Holder> holders_;                              ///< pods with a rule
  std::map<std::string, std::set<kube::RowId>, std::less<>> by_node_;  ///< pods with a rule by the name of their node
  std::map<std::string, Touched> touched_;
  std::set<std::string, std::less<>> changed_namespaces_;
};

}  // namespace capstan::op
