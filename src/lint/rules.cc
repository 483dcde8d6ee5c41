#include "lint/rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/sort_unique.h"
#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule_table.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace {

using List = std::vector<const Rule*>;

/// Returns true if a word of a rule's `kinds` selects this kind.
bool selects_kind(std::string_view word, std::string_view kind) {
  const auto serving = [](const PodShape& shape) { return shape.maker == PodMaker::serving; };
  if (word == "*") return true;
  if (word == "@pods" || word == "@gpu") return !pod_shapes(kind).empty();
  if (word == "@serving") return std::ranges::any_of(pod_shapes(kind), serving);
  if (word == "@scaler") return is_scaler(kind);
  if (word == "@pool") return is_pool(kind);
  if (word == "@adapter") return kind == "ConfigMap" || kind == "PrometheusAdapterValues";
  return word == kind;
}

bool concerns(const Rule& rule, std::string_view kind) {
  std::string_view rest = rule.kinds;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (selects_kind(word, kind)) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

/// The kinds that rules select with `@scaler`, `@pool` and `@adapter`, except ConfigMap, which some rules name.
constexpr std::string_view kScalersAndPools[] = {
    "HorizontalPodAutoscaler", "ScaledObject",        "PodAutoscaler", "NIMService",  "Model",
    "InferenceService",        "LLMInferenceService", "NodePool",      "Provisioner", "PrometheusAdapterValues"};

std::map<std::string_view, List, std::less<>> by_kind() {
  std::map<std::string_view, List, std::less<>> lists;
  for (const std::string_view kind : kScalersAndPools) lists[kind];
  for (const PodShape& shape : pod_shapes()) lists[shape.kind];
  for (const Rule* rule : all_rules()) {
    std::string_view rest = rule->kinds;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (!word.starts_with('@') && word != "*") lists[word];
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
  }
  for (auto& [kind, list] : lists) {
    for (const Rule* rule : all_rules()) {
      if (rule->check != nullptr && concerns(*rule, kind)) list.push_back(rule);
    }
  }
  return lists;
}

}  // namespace

std::span<const Rule* const> all_rules() {
  static const List rules = [] {
    List list(rule_table().begin(), rule_table().end());
    std::ranges::sort(list, {}, [](const Rule* rule) { return rule->id; });
    return list;
  }();
  return rules;
}

const Rule* find_rule(std::string_view id) {
  const auto rules = all_rules();
  const auto found = std::ranges::lower_bound(rules, id, {}, [](const Rule* rule) { return rule->id; });
  return found != rules.end() && (*found)->id == id ? *found : nullptr;
}

bool concerns_only_gpus(const Rule& rule) { return rule.kinds == "@gpu" || rule.kinds == "@serving"; }

std::span<const Rule* const> rules_for(const Object& object) {
  static const std::map<std::string_view, List, std::less<>> lists = by_kind();
  // These rules check objects of unknown kinds that contain pods.
  static const List for_pods = [] {
    List list;
    for (const Rule* rule : all_rules()) {
      const bool checks_pods = rule->kinds == "@pods" || rule->kinds == "@gpu";
      if (checks_pods && rule->check != nullptr) list.push_back(rule);
    }
    return list;
  }();
  // Two APIs may have a kind of the same name. The rules of KEDA's retired API and of Capstan's Queue therefore name
  // kind and group, such as Queue.capstan.dev.
  if (object.group == "keda.k8s.io" || object.group == "capstan.dev") {
    const auto of_group = lists.find(std::string(object.kind) + "." + std::string(object.group));
    if (of_group != lists.end()) return of_group->second;
  }
  const auto found = object.is_of_other_group ? lists.end() : lists.find(object.kind);
  if (found != lists.end()) return found->second;
  return object.has_unlisted_pods ? std::span<const Rule* const>(for_pods) : std::span<const Rule* const>();
}

bool is_checked(const Object& object) {
  constexpr std::string_view kSearched[] = {"ClusterPolicy", "NodeOverlay",   "PriorityClass",
                                            "Service",       "Kustomization", "PersistentVolumeClaim"};
  const bool is_searched = std::ranges::find(kSearched, object.kind) != std::end(kSearched);
  return !rules_for(object).empty() || (is_searched && !object.is_of_other_group) || object.carries_objects;
}

std::vector<std::string_view> checked_kinds() {
  std::vector<std::string_view> kinds = {"ClusterPolicy", "NodeOverlay", "PriorityClass", "Service",
                                         "PersistentVolumeClaim"};
  for (const auto& [kind, rules] : by_kind()) {
    // A cluster has no values of charts and no objects of retired APIs. `Queue` stands for Queue.capstan.dev, too.
    const bool is_only_in_files = kind.ends_with("Values") || kind.find('.') != kind.npos;
    if (!is_only_in_files && !rules.empty()) kinds.push_back(kind);
  }
  sort_unique(kinds);
  return kinds;
}

}  // namespace capstan::lint
