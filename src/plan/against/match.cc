#include "plan/against/match.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/split.h"
#include "plan/against/monitor.h"

namespace capstan::plan {

namespace {

bool is_same_kind(const Manifest& planned, const ExistingObject& existing) {
  return text_at(planned.body, "kind") == existing.kind() &&
         api_group(text_at(planned.body, "apiVersion")) == existing.group();
}

bool has_same_name(const Manifest& planned, const ExistingObject& existing) {
  return is_same_kind(planned, existing) && text_at(planned.body, "metadata", "name") == existing.name();
}

bool is_same_object(const Manifest& planned, const ExistingObject& existing) {
  const std::string namespace_name = existing.namespace_name();
  return has_same_name(planned, existing) &&
         (namespace_name.empty() || namespace_name == text_at(planned.body, "metadata", "namespace"));
}

/// Returns the name of the workload that an autoscaler scales; empty for another object.
template <typename Body>
std::string target_of(const Body& body) {
  const Body* spec = body.find("spec");
  const Body* target = spec == nullptr ? nullptr : spec->find("scaleTargetRef");
  return target == nullptr ? "" : text_at(*target, "name");
}

/// Returns true if both are autoscalers of the same kind and scale a workload of the same name.
bool has_same_target(const Manifest& planned, const ExistingObject& existing) {
  const std::string target = target_of(planned.body);
  return !target.empty() && is_same_kind(planned, existing) && target == target_of(existing.body);
}

/// Returns true if a text of the object is the name, or an option with it: "--model=meta-llama/Llama-3.3-70B-Instruct".
bool names_model(const manifest::Node& node, const std::string& model) {
  if (node.kind == manifest::Node::Kind::scalar) {
    const auto words = split(node.text, ' ');
    return std::ranges::any_of(words, [&](std::string_view word) {
      return word == model || (word.ends_with(model) && word[word.size() - model.size() - 1] == '=');
    });
  }
  return std::ranges::any_of(node.items, [&](const manifest::Node& item) { return names_model(item, model); }) ||
         std::ranges::any_of(node.entries, [&](const auto& entry) { return names_model(entry.value, model); });
}

/// Returns true for an object that the plan works without, such as balloon pods.
bool is_optional(const Manifest& manifest) { return manifest.alternative.choice == "spare capacity"; }

class Matching {
 public:
  Matching(const Plan& plan, const std::vector<ExistingObject>& existing) : plan_(plan), existing_(existing) {
    for (const Section& section : plan.sections) {
      for (const Manifest& manifest : section.manifests) {
        if (manifest.is_object) matches_.push_back({&section, &manifest, nullptr});
      }
    }
  }

  std::vector<ObjectMatch> run() {
    pair_by(is_same_object);
    pair_by([this](const Manifest& planned, const ExistingObject& existing) {
      return has_same_name(planned, existing) && is_only_one_of_its_name(planned);
    });
    pair_by(has_same_target);
    pair_by_model();
    pair_single_ones();
    pair_by(
        [this](const Manifest& planned, const ExistingObject& existing) { return is_scaled_pair(planned, existing); });
    pair_by([this](const Manifest& planned, const ExistingObject& existing) {
      return scrapes_the_same(planned, existing, matches_, existing_);
    });
    return std::move(matches_);
  }

 private:
  void pair_by(const std::function<bool(const Manifest&, const ExistingObject&)>& is_pair) {
    for (ObjectMatch& match : matches_) {
      if (match.existing != nullptr) continue;
      for (const ExistingObject& object : existing_) {
        if (used_.contains(&object) || !is_pair(*match.planned, object)) continue;
        match.existing = &object;
        used_.insert(&object);
        break;
      }
    }
  }

  /// Returns true if exactly one existing object has the kind and the name of a planned one, in any namespace.
  bool is_only_one_of_its_name(const Manifest& planned) const {
    return 1 == std::ranges::count_if(existing_,
                                      [&](const ExistingObject& object) { return has_same_name(planned, object); });
  }

  /// Pairs the planned workload of a service with the existing workload that names its model. Skips models that
  /// several services, or several unpaired workloads of this kind, have.
  void pair_by_model() {
    for (ObjectMatch& match : matches_) {
      const std::string kind = text_at(match.planned->body, "kind");
      if (match.existing != nullptr || is_optional(*match.planned) ||
          (kind != "Deployment" && kind != "LeaderWorkerSet")) {
        continue;
      }
      const std::string name = text_at(match.planned->body, "metadata", "name");
      const auto service = std::ranges::find(plan_.spec.services, name, &ServiceSpec::name);
      if (service == plan_.spec.services.end() || service->served_model_name.empty()) continue;
      const auto same_model =
          std::ranges::count(plan_.spec.services, service->served_model_name, &ServiceSpec::served_model_name);
      std::vector<const ExistingObject*> open;
      for (const ExistingObject& object : existing_) {
        if (used_.contains(&object) || !is_same_kind(*match.planned, object)) continue;
        if (names_model(object.body, service->served_model_name)) open.push_back(&object);
      }
      if (open.size() != 1 || same_model != 1) continue;
      match.existing = open.front();
      used_.insert(open.front());
    }
  }

  /// Returns true if paired autoscalers scale these two objects.
  bool is_scaled_pair(const Manifest& planned, const ExistingObject& existing) const {
    if (!is_same_kind(planned, existing) || is_optional(planned)) return false;
    const std::string name = text_at(planned.body, "metadata", "name");
    return std::ranges::any_of(matches_, [&](const ObjectMatch& match) {
      return match.existing != nullptr && !name.empty() && target_of(match.planned->body) == name &&
             target_of(match.existing->body) == existing.name();
    });
  }

  void pair_single_ones() {
    for (ObjectMatch& match : matches_) {
      if (match.existing != nullptr || is_optional(*match.planned) || is_monitor(*match.planned)) continue;
      const auto is_open = [&](const ObjectMatch& other) {
        return other.existing == nullptr && !is_optional(*other.planned) &&
               text_at(other.planned->body, "kind") == text_at(match.planned->body, "kind") &&
               text_at(other.planned->body, "apiVersion") == text_at(match.planned->body, "apiVersion");
      };
      std::vector<const ExistingObject*> open;
      for (const ExistingObject& object : existing_) {
        if (!used_.contains(&object) && is_same_kind(*match.planned, object)) open.push_back(&object);
      }
      // A plan with a spot pool has two NodePools. A single existing one is paired with the base pool, which is first.
      const bool is_pool = text_at(match.planned->body, "kind") == "NodePool";
      if (open.size() != 1 || (!is_pool && std::ranges::count_if(matches_, is_open) != 1)) continue;
      match.existing = open.front();
      used_.insert(open.front());
    }
  }

  const Plan& plan_;
  const std::vector<ExistingObject>& existing_;
  std::vector<ObjectMatch> matches_;
  std::set<const ExistingObject*> used_;
};

}  // namespace

std::vector<ObjectMatch> match_objects(const Plan& plan, const std::vector<ExistingObject>& existing) {
  return Matching(plan, existing).run();
}

Renames renames_of(const std::vector<ObjectMatch>& matches) {
  Renames out;
  const auto add = [&](const std::string& planned, const std::string& found) {
    if (planned.empty() || found.empty() || planned == found) return;
    if (std::ranges::find(out, std::pair(planned, found)) == out.end()) out.emplace_back(planned, found);
  };
  for (const ObjectMatch& match : matches) {
    if (match.existing == nullptr) continue;
    add(text_at(match.planned->body, "metadata", "name"), match.existing->name());
    add(text_at(match.planned->body, "metadata", "namespace"), match.existing->namespace_name());
  }
  return out;
}

}  // namespace capstan::plan
