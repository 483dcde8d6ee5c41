#include "plan/against/monitor.h"

#include <algorithm>

#include "plan/against/pod_parts.h"

namespace capstan::plan {

namespace {

using manifest::Node;

constexpr std::string_view kMonitorGroup = "monitoring.coreos.com";

const std::string& scalar_text(const Node& value) { return value.text; }
const std::string& scalar_text(const Yaml& value) { return value.text(); }
const auto& entries_of(const Node& labels) { return labels.entries; }
const auto& entries_of(const Yaml& labels) { return labels.entries(); }
const std::string& label_key(const Node::Entry& entry) { return entry.key; }
const std::string& label_key(const Yaml::Entry& entry) { return entry.first; }
const Node& label_value(const Node::Entry& entry) { return entry.value; }
const Yaml& label_value(const Yaml::Entry& entry) { return entry.second; }

/// Returns true if a selector states at least one label and the labels have all of them.
template <typename Selector, typename Labels>
bool selects_labels(const Selector* selector, const Labels* labels) {
  if (selector == nullptr || labels == nullptr || entries_of(*selector).empty()) return false;
  return std::ranges::all_of(entries_of(*selector), [&](const auto& entry) {
    return text_at(*labels, label_key(entry)) == scalar_text(label_value(entry));
  });
}

/// Returns true if an existing monitor reaches pods with these labels, a ServiceMonitor through a Service.
bool scrapes_pods(const ExistingObject& monitor, const Node* pod_labels, const std::vector<ExistingObject>& existing) {
  const Node* selector = selected_labels(monitor.body);
  if (monitor.kind() == "PodMonitor") return selects_labels(selector, pod_labels);
  return std::ranges::any_of(existing, [&](const ExistingObject& object) {
    if (object.kind() != "Service") return false;
    const Node* metadata = object.body.find("metadata");
    const Node* spec = object.body.find("spec");
    return metadata != nullptr && spec != nullptr && selects_labels(selector, metadata->find("labels")) &&
           selects_labels(spec->find("selector"), pod_labels);
  });
}

}  // namespace

bool is_monitor(const Manifest& planned) {
  return api_group(text_at(planned.body, "apiVersion")) == kMonitorGroup &&
         text_at(planned.body, "kind").ends_with("Monitor");
}

bool scrapes_the_same(const Manifest& planned, const ExistingObject& monitor, const std::vector<ObjectMatch>& matches,
                      const std::vector<ExistingObject>& existing) {
  if (!is_monitor(planned) || monitor.group() != kMonitorGroup || !monitor.kind().ends_with("Monitor")) return false;
  const Yaml* wanted = selected_labels(planned.body);
  const Node* found = selected_labels(monitor.body);
  if (text_at(planned.body, "kind") == monitor.kind() && selects_labels(wanted, found) && selects_labels(found, wanted))
    return true;
  if (text_at(planned.body, "kind") != "PodMonitor") return false;
  return std::ranges::any_of(matches, [&](const ObjectMatch& match) {
    return match.existing != nullptr && selects_labels(wanted, pod_labels_of(match.planned->body)) &&
           scrapes_pods(monitor, pod_labels_of(match.existing->body), existing);
  });
}

Manifest part_for_service_monitor(const Manifest& planned) {
  Manifest out{.file = planned.file, .alternative = planned.alternative};
  const Yaml* spec = planned.body.find("spec");
  const Yaml* labels = spec == nullptr ? nullptr : spec->find("podTargetLabels");
  if (labels != nullptr) out.body["spec"].set("podTargetLabels", *labels);
  return out;
}

}  // namespace capstan::plan
