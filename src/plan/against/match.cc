#include "plan/against/match.h"

#include <algorithm>
#include <functional>
#include <set>

namespace capstan::plan {

namespace {

bool is_same_kind(const Manifest& planned, const ExistingObject& existing) {
  return text_at(planned.body, "kind") == existing.kind() &&
         api_group(text_at(planned.body, "apiVersion")) == existing.group();
}

bool is_same_object(const Manifest& planned, const ExistingObject& existing) {
  const std::string namespace_name = existing.namespace_name();
  return is_same_kind(planned, existing) && text_at(planned.body, "metadata", "name") == existing.name() &&
         (namespace_name.empty() || namespace_name == text_at(planned.body, "metadata", "namespace"));
}

/// Returns true if both are autoscalers of a workload with the same name.
bool has_same_target(const Manifest& planned, const ExistingObject& existing) {
  const Yaml* spec = planned.body.find("spec");
  const Yaml* target = spec == nullptr ? nullptr : spec->find("scaleTargetRef");
  const manifest::Node* other_spec = existing.body.find("spec");
  const manifest::Node* other = other_spec == nullptr ? nullptr : other_spec->find("scaleTargetRef");
  if (target == nullptr || other == nullptr) return false;
  return is_same_kind(planned, existing) && text_at(*target, "name") == text_at(*other, "name");
}

class Matching {
 public:
  Matching(const Plan& plan, const std::vector<ExistingObject>& existing) : existing_(existing) {
    for (const Section& section : plan.sections) {
      for (const Manifest& manifest : section.manifests) {
        if (manifest.is_object) matches_.push_back({&section, &manifest, nullptr});
      }
    }
  }

  std::vector<ObjectMatch> run() {
    pair_by(is_same_object);
    pair_by(has_same_target);
    pair_single_ones();
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

  void pair_single_ones() {
    for (ObjectMatch& match : matches_) {
      if (match.existing != nullptr) continue;
      const auto is_open = [&](const ObjectMatch& other) {
        return other.existing == nullptr &&
               text_at(other.planned->body, "kind") == text_at(match.planned->body, "kind") &&
               text_at(other.planned->body, "apiVersion") == text_at(match.planned->body, "apiVersion");
      };
      std::vector<const ExistingObject*> open;
      for (const ExistingObject& object : existing_) {
        if (!used_.contains(&object) && is_same_kind(*match.planned, object)) open.push_back(&object);
      }
      // A pool of the user is the base pool of a plan with a spot pool, which stands first.
      const bool is_pool = text_at(match.planned->body, "kind") == "NodePool";
      if (open.size() != 1 || (!is_pool && std::ranges::count_if(matches_, is_open) != 1)) continue;
      match.existing = open.front();
      used_.insert(open.front());
    }
  }

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
