#include "plan/against/compare_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "manifest/quantity.h"
#include "manifest/scalars.h"
#include "plan/against/engine_arguments.h"
#include "plan/against/one_of.h"
#include "plan/against/pod_parts.h"
#include "plan/against/signals.h"

namespace capstan::plan {

namespace {

using manifest::Node;

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  return text;
}

/// Returns true if both texts mean the same: "1h" and "60m", "64Gi" and "65536Mi".
bool means_the_same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto quantity = manifest::read_quantity_milli(a);
  if (quantity && quantity == manifest::read_quantity_milli(b)) return true;
  const auto duration = manifest::read_duration(a);
  if (duration && duration == manifest::read_duration(b)) return true;
  return without_spaces(a) == without_spaces(b);
}

/// Replaces planned names by the existing names in the label matchers of a query: `="chat"` becomes `="llm-server"`.
std::string renamed_labels(std::string text, const Renames& renames) {
  for (const auto& [planned, found] : renames) {
    const std::string old = "=\"" + planned + "\"";
    for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + 1)) {
      text.replace(at, old.size(), "=\"" + found + "\"");
    }
  }
  return text;
}

/// Returns the key that identifies the elements of a list, empty if they have none.
std::string_view element_key(const Yaml& list) {
  for (const std::string_view key : {"name", "key", "alert", "type"}) {
    std::set<std::string> values;
    for (const Yaml& element : list.elements()) {
      if (element.is_map() && element.find(key) != nullptr) values.insert(element.find(key)->text());
    }
    if (!list.elements().empty() && values.size() == list.elements().size()) return key;
  }
  return {};
}

/// Returns "--port" for "--port=8000", and the whole text if it has no value.
std::string flag_of(const std::string& text) { return text.substr(0, text.find('=')); }

bool is_structure(const Yaml& value) { return value.is_map() || value.is_list(); }

/// Returns how many scalars of a planned value are the same in an existing one.
int count_equal_scalars(const Yaml& planned, const Node& found) {
  int equal = 0;
  if (planned.is_map()) {
    for (const auto& [key, value] : planned.entries()) {
      if (const Node* other = found.find(key)) equal += count_equal_scalars(value, *other);
    }
  } else if (planned.is_list()) {
    for (std::size_t i = 0; i < std::min(planned.elements().size(), found.items.size()); ++i) {
      equal += count_equal_scalars(planned.elements()[i], found.items[i]);
    }
  } else if (found.kind == Node::Kind::scalar && means_the_same(planned.text(), found.text)) {
    equal = 1;
  }
  return equal;
}

/// Returns true for a value that is not compared: it names another object or a key of a Secret, selects pods by their
/// labels, or is the value of a taint.
bool is_reference(std::string_view path) {
  static constexpr std::array<std::string_view, 4> kEnds = {"Ref.name", "Ref.namespace", ".serviceName",
                                                            ".secretKeyRef.key"};
  if (std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); })) return true;
  // The pods of the plan tolerate a taint by its key alone. Other pods may tolerate the taint by its value, so the
  // existing value stays.
  if (path.find(".taints.") != path.npos && path.ends_with(".value")) return true;
  return path == "spec.selector" || path.find("electorLabels") != path.npos || path == "spec.selector.matchLabels";
}

/// Returns true if `value` is the default of the field, so that its absence in an existing object is no difference.
bool is_api_default(std::string_view kind, std::string_view path, const Yaml& value) {
  if (kind != "ScaledObject") return false;
  return (path == "spec.scaleTargetRef.kind" && value.text() == "Deployment") ||
         (path == "spec.scaleTargetRef.apiVersion" && value.text() == "apps/v1");
}

/// Returns the key by which an element of a list is found if its name differs; empty if there is no such key.
std::string_view fallback_key(std::string_view path) {
  if (path.ends_with(".volumeMounts")) return "mountPath";
  return path.ends_with(".ports") ? "containerPort" : "";
}

bool is_list_of_containers(std::string_view path) {
  return path.ends_with(".containers") || path.ends_with(".initContainers");
}

/// Returns the existing image with the planned tag, so that its registry stays. An image with a digest does not change.
std::string existing_image_with_planned_tag(const std::string& planned, const std::string& existing) {
  if (existing.find('@') != existing.npos) return existing;
  const std::size_t name = existing.rfind('/') + 1;
  const std::size_t version = existing.find(':', name);
  const std::size_t planned_version = planned.find(':', planned.rfind('/') + 1);
  return existing.substr(0, version) + (planned_version == planned.npos ? "" : planned.substr(planned_version));
}

class ObjectComparison {
 public:
  ObjectComparison(const ExistingObject& existing, const Renames& renames) : existing_(existing), renames_(renames) {}

  std::vector<Difference> run(const Yaml& planned) {
    compare_map(planned, existing_.body, "", "");
    return std::move(out_);
  }

 private:
  void compare(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    if (is_reference(path)) return;
    if (planned.is_map()) {
      if (found.kind == Node::Kind::mapping) return compare_map(planned, found, path, why);
      if (!planned.empty() || !found.is_null()) add(found, path, yaml_of(found), planned, why);
    } else if (planned.is_list()) {
      if (found.kind == Node::Kind::sequence) return compare_list(planned, found, path, why);
      if (!planned.empty() || !found.is_null()) add(found, path, yaml_of(found), planned, why);
    } else if (found.kind != Node::Kind::scalar || !is_equal(planned.text(), found.text)) {
      add(found, path, yaml_of(found), planned, why);
    }
  }

  bool is_equal(const std::string& planned, const std::string& found) const {
    const bool is_renamed = std::ranges::find(renames_, std::pair(planned, found)) != renames_.end();
    return is_renamed || means_the_same(planned, found) || means_the_same(renamed_labels(planned, renames_), found);
  }

  void add(const Node& at, const std::string& path, std::optional<Yaml> found, std::optional<Yaml> planned,
           const std::string& why) {
    Difference change{.file = existing_.file,
                      .line = at.place.line,
                      .object = existing_.kind() + " " + existing_.name(),
                      .path = path,
                      .found = std::move(found),
                      .why = why};
    if (planned && !planned->comment().empty()) change.why = planned->reason();
    change.planned = std::move(planned);
    if (!change.planned) change.kind = Difference::Kind::remove;
    std::ranges::replace(change.why, '\n', ' ');
    out_.push_back(std::move(change));
  }

  void compare_map(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    // Kubernetes refuses an object with two alternative keys, so the whole value is replaced.
    if (has_other_alternative(planned, found, path)) return add(found, path, yaml_of(found), planned, why);
    for (const auto& [key, value] : planned.entries()) {
      if (path.empty() && (key == "metadata" || key == "kind")) continue;
      const std::string below = path.empty() ? key : path + "." + key;
      const std::string reason = value.comment().empty() ? why : value.reason();
      if (const Node* existing = found.find(key)) {
        compare(value, *existing, below, reason);
      } else if (!is_reference(below) && !is_api_default(existing_.kind(), below, value)) {
        add(found, below, std::nullopt, value, reason);
      }
    }
  }

  /// Compares a planned container with the existing container that does the same work. The existing name stays. Command
  /// lines are compared option by option, because a container may state options in the command, in the arguments or in
  /// a script.
  void compare_container(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    const std::string engine(engine_word(yaml_of(found))), wanted(engine_word(planned));
    const bool is_other_engine = !engine.empty() && !wanted.empty() && engine != wanted;
    const bool has_command = found.find("command") != nullptr || found.find("args") != nullptr;
    Yaml rest;
    for (const auto& [key, value] : planned.entries()) {
      if (key == "name") continue;
      const Node* existing = found.find(key);
      if (key == "image" && existing != nullptr) {
        compare_image(value, *existing, path + ".image", is_other_engine);
      } else if ((key == "args" || key == "command") && has_command && asks_for_gpu(planned)) {
        if (key == "args" && !is_other_engine) compare_command_line(value, found, path, why);
      } else {
        rest.set(key, value);
      }
    }
    compare_map(rest, found, path, why);
  }

  void compare_image(const Yaml& planned, const Node& found, const std::string& path, bool is_other_engine) {
    const bool is_same_image = image_name(planned.text()) == image_name(found.text);
    if (is_other_engine) {
      add(found, path, yaml_of(found), planned, "the plan was simulated with this engine");
      out_.back().caution = "replace command and args with it: the options of the two engines differ";
    } else if (is_same_image) {
      const std::string image = existing_image_with_planned_tag(planned.text(), found.text);
      if (image != found.text) add(found, path, yaml_of(found), Yaml(image), "a version that has the planned options");
    }
  }

  void compare_command_line(const Yaml& planned, const Node& container, const std::string& path,
                            const std::string& why) {
    const Node* list = container.find("args");
    if (list == nullptr) list = container.find("command");
    const bool is_script = !planned.elements().empty() && !planned.elements().front().text().starts_with("--");
    if (is_script) {
      add(*list, path + ".args", yaml_of(*list), planned, why);
      out_.back().caution = "compare the two command lines; keep the port and the name of the model";
      return;
    }
    for (const ArgumentChange& change : compare_arguments(planned, container)) {
      std::optional<Yaml> existing;
      if (change.place != nullptr) existing = Yaml(change.found);
      add(change.place == nullptr ? *list : *change.place, fmt::format("{}.args.{}", path, change.flag),
          std::move(existing), Yaml(change.planned), change.why);
      out_.back().caution = change.caution;
    }
  }

  void compare_list(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    if (path == "spec.metrics" || path == "spec.triggers") return compare_metrics(planned, found, path, why);
    if (path.ends_with(".values")) return compare_set(planned, found, path, why);
    // The ports of a Service stay, because its clients use them.
    if (existing_.kind() == "Service" && path == "spec.ports" && !found.items.empty()) return;
    if (is_list_of_containers(path)) return compare_containers(planned, found, path, why);
    const std::string_view key = element_key(planned);
    std::set<const Node*> used;
    for (std::size_t i = 0; i < planned.elements().size(); ++i) {
      const Yaml& element = planned.elements()[i];
      const Node* match = find_element(element, found, key, used);
      if (match == nullptr) match = find_by_fallback_key(element, found, fallback_key(path), used);
      const std::string name = !key.empty()            ? element.find(key)->text()
                               : is_structure(element) ? std::to_string(i)
                                                       : flag_of(element.text());
      compare_element(element, match, found, path + "." + name, why);
      if (match != nullptr) used.insert(match);
    }
  }

  void compare_containers(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    std::set<const Node*> used;
    for (const Yaml& container : planned.elements()) {
      const Node* match = find_container(container, found, used);
      if (match == nullptr) {
        add(found, path + "." + text_at(container, "name"), std::nullopt, container, why);
        if (asks_for_gpu(container)) out_.back().caution = "only if no other container of the pod is the engine";
        continue;
      }
      used.insert(match);
      compare_container(container, *match, path + "." + text_at(*match, "name"), why);
    }
  }

  /// Finds the element that has the same value of `key` as the planned one. Null: there is none, or the planned element
  /// has no such key.
  static const Node* find_by_fallback_key(const Yaml& element, const Node& found, std::string_view key,
                                          const std::set<const Node*>& used) {
    if (key.empty() || element.find(key) == nullptr) return nullptr;
    for (const Node& item : found.items) {
      if (!used.contains(&item) && text_at(item, key) == text_at(element, key)) return &item;
    }
    return nullptr;
  }

  /// Compares an element of a list with the existing one, which is null if the list lacks it.
  void compare_element(const Yaml& planned, const Node* match, const Node& list, const std::string& path,
                       const std::string& why) {
    const std::string reason = planned.comment().empty() ? why : planned.reason();
    if (match == nullptr) return add(list, path, std::nullopt, planned, reason);
    compare(planned, *match, path, reason);
  }

  /// Finds the existing element that stands for the planned one: the element with the same value of `key` or, without
  /// a key, the map with the most equal values, or the text that is equal or has the same flag. Null: there is none.
  const Node* find_element(const Yaml& element, const Node& found, std::string_view key,
                           const std::set<const Node*>& used) const {
    const Node* best = nullptr;
    int most = 0;
    for (const Node& item : found.items) {
      if (used.contains(&item)) continue;
      int like = 0;
      if (!key.empty()) {
        like = is_equal(element.find(key)->text(), text_at(item, key)) ? 1 : 0;
      } else if (is_structure(element)) {
        like = count_equal_scalars(element, item);
      } else if (is_equal(element.text(), item.text)) {
        like = 2;
      } else if (element.text().starts_with("--") && flag_of(element.text()) == flag_of(item.text)) {
        like = 1;
      }
      if (like <= most) continue;
      most = like;
      best = &item;
    }
    return best;
  }

  /// Compares a list of values whose order does not matter, such as the values of a requirement of Karpenter. One
  /// change replaces the whole list.
  void compare_set(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    std::set<std::string> wanted, present;
    for (const Yaml& element : planned.elements()) wanted.insert(element.text());
    for (const Node& item : found.items) present.insert(item.text);
    if (wanted != present) add(found, path, yaml_of(found), planned, why);
  }

  /// Compares the metrics of an autoscaler. A planned element is compared with the existing element of the same
  /// metrics. The other existing elements should be removed, because an autoscaler follows the metric that asks for the
  /// most replicas.
  void compare_metrics(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    std::vector<std::vector<std::string>> wanted;
    std::set<const Node*> used;
    for (const Yaml& element : planned.elements()) {
      wanted.push_back(scaler_metrics(element));
      const Node* match = nullptr;
      for (const Node& item : found.items) {
        const bool is_same = scaler_metrics(yaml_of(item)) == wanted.back() &&
                             text_at(item, "type") == text_at(element, "type") && !used.contains(&item);
        if (is_same && match == nullptr) match = &item;
      }
      compare_element(element, match, found, fmt::format("{}.{}", path, fmt::join(wanted.back(), "+")), why);
      if (match != nullptr) used.insert(match);
    }
    for (const Node& item : found.items) {
      if (used.contains(&item)) continue;
      const std::vector<std::string> metrics = scaler_metrics(yaml_of(item));
      add(item, fmt::format("{}.{}", path, fmt::join(metrics, "+")), yaml_of(item), std::nullopt,
          why_remove(metrics, wanted, found.items.size() == 1));
    }
  }

  const ExistingObject& existing_;
  const Renames& renames_;
  std::vector<Difference> out_;
};

}  // namespace

std::vector<Difference> compare_object(const Manifest& planned, const ExistingObject& existing,
                                       const Renames& renames) {
  return ObjectComparison(existing, renames).run(planned.body);
}

}  // namespace capstan::plan
