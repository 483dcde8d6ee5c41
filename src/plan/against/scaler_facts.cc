#include "plan/against/scaler_facts.h"

#include <optional>
#include <variant>

#include "manifest/scalars.h"
#include "promql/parser.h"

namespace capstan::plan {

namespace {

using manifest::Node;

constexpr ReplicaCount kKedaMaximum = 100;  ///< `maxReplicaCount` of KEDA if none is stated

std::optional<ReplicaCount> count_at(const Node& node, std::string_view key) {
  const Node* value = node.find(key);
  return value == nullptr ? std::nullopt : manifest::read_integer(value->text);
}

/// Adds the labels whose value a query states exactly.
void add_labels_of_query(const std::string& query, std::map<std::string, std::string>& labels) {
  const auto expression = promql::parse(query);
  if (!expression) return;
  promql::walk(**expression, [&](const promql::Expression& part) {
    const auto* selector = std::get_if<promql::Selector>(&part.node);
    if (selector == nullptr) return;
    for (const promql::LabelMatcher& matcher : selector->matchers) {
      const bool names_series = matcher.name == "__name__" || matcher.name == "pod" || matcher.name == "le";
      if (matcher.op == promql::LabelMatcher::Op::equal && !names_series)
        labels.try_emplace(matcher.name, matcher.value);
    }
  });
}

/// Visits every mapping of a document.
template <typename Visit>
void visit_mappings(const Node& node, const Visit& visit) {
  if (node.kind == Node::Kind::mapping) visit(node);
  for (const Node::Entry& entry : node.entries) visit_mappings(entry.value, visit);
  for (const Node& item : node.items) visit_mappings(item, visit);
}

}  // namespace

std::vector<ReplicaCount> stated_maxima(const ExistingObject& scaler) {
  const Node* spec = scaler.body.find("spec");
  if (spec == nullptr) return {};
  if (scaler.kind() == "ScaledObject") return {count_at(*spec, "maxReplicaCount").value_or(kKedaMaximum)};
  const Node* roles = spec->find("roles");
  std::vector<ReplicaCount> out;
  if (roles == nullptr) {
    if (const auto maximum = count_at(*spec, "maxReplicas")) out.push_back(*maximum);
    return out;
  }
  for (const Node& role : roles->items) out.push_back(count_at(role, "maxReplicas").value_or(0));
  return out;
}

std::map<std::string, std::string> queried_labels(const ExistingObject& scaler) {
  std::map<std::string, std::string> labels;
  const Node* spec = scaler.body.find("spec");
  if (spec == nullptr) return labels;
  if (const Node* triggers = spec->find("triggers")) {
    for (const Node& trigger : triggers->items) {
      const std::string query = text_at(trigger, "metadata", "query");
      if (!query.empty()) add_labels_of_query(query, labels);
    }
  }
  if (const Node* metrics = spec->find("metrics")) {
    visit_mappings(*metrics, [&](const Node& mapping) {
      const Node* exact = mapping.find("matchLabels");
      if (exact == nullptr) return;
      for (const Node::Entry& label : exact->entries) labels.try_emplace(label.key, label.value.text);
    });
  }
  return labels;
}

}  // namespace capstan::plan
