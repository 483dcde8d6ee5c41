#include "plan/against/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "manifest/quantity.h"
#include "manifest/scalars.h"

namespace capstan::plan {

namespace {

using manifest::Node;

/// Folders of a plan of which one is applied.
constexpr std::array kAlternatives = {
    std::array<std::string_view, 3>{"replicas/keda/", "replicas/hpa/", "replicas/capstan/"},
    std::array<std::string_view, 3>{"gangs/kai/", "gangs/kueue/", "gangs/capstan/"},
    std::array<std::string_view, 3>{"warm-pool/balloon/", "warm-pool/capacity-buffer/", ""},
};

std::string text_at(const Node& root, std::string_view first, std::string_view second = {}) {
  const Node* node = root.find(first);
  if (node != nullptr && !second.empty()) node = node->find(second);
  return node == nullptr ? "" : node->text;
}

std::string text_of(const Yaml& body, std::string_view first, std::string_view second = {}) {
  const Yaml* value = body.find(first);
  if (value != nullptr && !second.empty()) value = value->find(second);
  return value == nullptr ? "" : value->text();
}

/// Returns "karpenter.sh" for "karpenter.sh/v1", and an empty text for "v1". Versions of one group are one kind.
std::string api_group(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == api_version.npos ? "" : api_version.substr(0, slash);
}

/// Returns true if both texts mean the same: "1h" and "60m", "64Gi" and "65536Mi".
bool means_the_same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto quantity = manifest::read_quantity_milli(a);
  if (quantity && quantity == manifest::read_quantity_milli(b)) return true;
  const auto duration = manifest::read_duration(a);
  return duration && duration == manifest::read_duration(b);
}

/// Returns the key that identifies the elements of a list, empty if they have none.
std::string_view element_key(const Yaml& list) {
  for (const std::string_view key : {"name", "key", "alert", "type"}) {
    const auto has = [&](const Yaml& element) { return element.is_map() && element.find(key) != nullptr; };
    std::set<std::string> values;
    for (const Yaml& element : list.elements()) {
      if (has(element)) values.insert(element.find(key)->text());
    }
    if (!list.elements().empty() && values.size() == list.elements().size()) return key;
  }
  return {};
}

std::string one_line(const Yaml& value) {
  if (value.is_map() || value.is_list()) {
    std::string text = value.document();
    std::ranges::replace(text, '\n', ' ');
    while (text.ends_with(' ')) text.pop_back();
    constexpr std::size_t kMost = 80;
    return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
  }
  return value.text();
}

/// Compares one object of the plan with the existing one.
class Comparison {
 public:
  Comparison(const ExistingObject& existing, std::vector<Difference>& out) : existing_(existing), out_(out) {}

  void compare(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    if (planned.is_map()) {
      compare_map(planned, found, path, why);
    } else if (planned.is_list()) {
      compare_list(planned, found, path, why);
    } else if (found.kind != Node::Kind::scalar || !means_the_same(planned.text(), found.text)) {
      add(found, path, found.kind == Node::Kind::scalar ? found.text : found.words(), planned, why);
    }
  }

 private:
  void add(const Node& at, const std::string& path, std::string found, const Yaml& planned, const std::string& why) {
    out_.push_back({existing_.file, at.place.line, existing_.kind() + " " + existing_.name(), path, std::move(found),
                    one_line(planned), planned.comment().empty() ? why : planned.comment()});
  }

  void compare_map(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    for (const auto& [key, value] : planned.entries()) {
      if (path.empty() && (key == "metadata" || key == "kind")) continue;
      const std::string below = path.empty() ? key : path + "." + key;
      const std::string reason = value.comment().empty() ? why : value.comment();
      if (const Node* existing = found.find(key)) {
        compare(value, *existing, below, reason);
      } else {
        add(found, below, "", value, reason);
      }
    }
  }

  void compare_list(const Yaml& planned, const Node& found, const std::string& path, const std::string& why) {
    const std::string_view key = element_key(planned);
    for (std::size_t i = 0; i < planned.elements().size(); ++i) {
      const Yaml& element = planned.elements()[i];
      const Node* match = find_element(element, found, key, i);
      const std::string name = key.empty() ? std::to_string(i) : element.find(key)->text();
      if (match == nullptr) {
        add(found, path + "." + name, "", element, why);
      } else {
        compare(element, *match, path + "." + name, why);
      }
    }
  }

  /// Finds the element of the existing list by its key, by its text, or by its position.
  static const Node* find_element(const Yaml& element, const Node& found, std::string_view key, std::size_t position) {
    if (found.kind != Node::Kind::sequence) return nullptr;
    if (key.empty() && (element.is_map() || element.is_list())) {
      return position < found.items.size() ? &found.items[position] : nullptr;
    }
    const auto match = std::ranges::find_if(found.items, [&](const Node& item) {
      return key.empty() ? means_the_same(item.text, element.text()) : text_at(item, key) == element.find(key)->text();
    });
    return match == found.items.end() ? nullptr : &*match;
  }

  const ExistingObject& existing_;
  std::vector<Difference>& out_;
};

/// Returns the existing object that stands for an object of the plan, or null.
const ExistingObject* find_match(const Plan& plan, const Manifest& planned,
                                 const std::vector<ExistingObject>& existing) {
  const std::string kind = text_of(planned.body, "kind"), name = text_of(planned.body, "metadata", "name");
  const std::string group = api_group(text_of(planned.body, "apiVersion"));
  const ExistingObject* only = nullptr;
  std::size_t of_kind = 0;
  for (const ExistingObject& object : existing) {
    if (object.kind() != kind || api_group(text_at(object.body, "apiVersion")) != group) continue;
    if (object.name() == name) return &object;
    only = &object;
    ++of_kind;
  }
  std::set<std::string> planned_names;
  for (const Section& section : plan.sections) {
    for (const Manifest& other : section.manifests) {
      if (text_of(other.body, "kind") == kind) planned_names.insert(text_of(other.body, "metadata", "name"));
    }
  }
  return of_kind == 1 && planned_names.size() == 1 ? only : nullptr;
}

/// The alternative that a file belongs to, as an index into a row of `kAlternatives`.
struct AlternativeOf {
  std::size_t choice = 0;     ///< row
  std::string_view folder{};  ///< "replicas/keda/"
};
std::optional<AlternativeOf> alternative_of(const std::string& file) {
  for (std::size_t i = 0; i < kAlternatives.size(); ++i) {
    for (const std::string_view folder : kAlternatives[i]) {
      if (!folder.empty() && file.starts_with(folder)) return AlternativeOf{i, folder};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ExistingObject::kind() const { return text_at(body, "kind"); }
std::string ExistingObject::name() const { return text_at(body, "metadata", "name"); }

std::vector<Difference> find_differences(const Plan& plan, const std::vector<ExistingObject>& existing) {
  std::array<std::set<std::string_view>, kAlternatives.size()> present;  // alternatives that exist, by choice
  const auto for_each_manifest = [&](auto&& visit) {
    for (const Section& section : plan.sections) {
      for (const Manifest& manifest : section.manifests) visit(section, manifest);
    }
  };
  for_each_manifest([&](const Section&, const Manifest& manifest) {
    const auto alternative = alternative_of(manifest.file);
    if (alternative && find_match(plan, manifest, existing) != nullptr) {
      present[alternative->choice].insert(alternative->folder);
    }
  });
  std::vector<Difference> out;
  for_each_manifest([&](const Section& section, const Manifest& manifest) {
    const auto alternative = alternative_of(manifest.file);
    const bool is_chosen = !alternative || present[alternative->choice].contains(alternative->folder);
    if (!manifest.is_object || !is_chosen) return;
    if (const ExistingObject* match = find_match(plan, manifest, existing)) {
      Comparison(*match, out).compare(manifest.body, match->body, "", "");
    } else {
      out.push_back({manifest.file, 0,
                     text_of(manifest.body, "kind") + " " + text_of(manifest.body, "metadata", "name"), "", "",
                     "as in " + manifest.file, section.title});
    }
  });
  for (std::size_t choice = 0; choice < kAlternatives.size(); ++choice) {
    const bool is_planned = std::ranges::any_of(plan.sections, [&](const Section& section) {
      return std::ranges::any_of(section.manifests, [&](const Manifest& manifest) {
        const auto alternative = alternative_of(manifest.file);
        return alternative && alternative->choice == choice;
      });
    });
    const bool is_scaler = choice == 0;  // queues and spare capacity are optional
    if (!is_planned || !is_scaler || !present[choice].empty()) continue;
    out.push_back({"replicas", 0, "An autoscaler", "", "",
                   "from one of replicas/keda, replicas/hpa and replicas/capstan", "Replicas"});
  }
  return out;
}

}  // namespace capstan::plan
