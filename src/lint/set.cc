#include "lint/set.h"

#include <algorithm>
#include <utility>

#include "lint/scalers.h"

namespace capstan::lint {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
using Ids = std::unordered_map<std::string_view, std::uint32_t>;

std::uint32_t new_id(Ids& ids, std::string_view word) {
  return ids.emplace(word, static_cast<std::uint32_t>(ids.size())).first->second;
}

std::uint32_t id_of(const Ids& ids, std::string_view word) {
  const auto found = ids.find(word);
  return found == ids.end() ? kNone : found->second;
}

}  // namespace

Set::Set(std::span<const Object> objects, bool closed) : objects_(objects), closed_(closed) {
  scopes_.reserve(objects.size());
  by_name_.reserve(objects.size());
  name_ids_.reserve(objects.size());
  for (const Object& object : objects_) {
    // Objects of one file follow each other.
    const bool same = object.index > 0 && objects_[object.index - 1].file == object.file;
    scopes_.push_back(same ? scopes_.back() : new_id(scope_ids_, object.file->scope));
    if (!object.foreign) add(object);
  }
  sort();
}

void Set::add(const Object& object) {
  const std::uint32_t kind = new_id(kind_ids_, object.kind);
  if (kind == by_kind_.size()) {
    by_kind_.emplace_back();
    scales_.push_back(is_scaler(object.kind));
  }
  by_kind_[kind].push_back(&object);
  if (!object.name.empty()) {
    by_name_.push_back({kind, new_id(name_ids_, object.name), scope_of(object), object.index});
  }
  if (!scales_[kind]) return;
  const Value& target = at(object, "spec.scaleTargetRef");
  if (!target["name"].is_scalar()) return;
  const std::string_view target_kind = target["kind"] ? target["kind"].text : std::string_view("Deployment");
  references_.push_back({target["name"].text, target_kind, closed_ ? 0 : scope_of(object), object.index});
}

void Set::sort() {
  std::ranges::sort(references_);
  std::ranges::sort(by_name_);
  const auto scope = [&](const Object* object) { return scope_of(*object); };
  for (std::vector<const Object*>& list : by_kind_) {
    // Only what a kustomization named stands apart from its folder.
    if (!std::ranges::is_sorted(list, {}, scope)) std::ranges::stable_sort(list, {}, scope);
  }
}

bool same_space(const Object& a, const Object& b) { return a.space.empty() || b.space.empty() || a.space == b.space; }

Set::Objects Set::of_kind(std::string_view kind) const {
  const std::uint32_t id = id_of(kind_ids_, kind);
  return id == kNone ? Objects() : Objects(by_kind_[id]);
}

std::span<const Set::Named> Set::of_name(std::string_view kind, std::string_view name) const {
  const auto key = [](const Named& named) { return std::pair(named.kind, named.name); };
  return std::ranges::equal_range(by_name_, std::pair(id_of(kind_ids_, kind), id_of(name_ids_, name)), {}, key);
}

Set::Objects Set::of_scope(Objects all, std::uint32_t scope) const {
  return std::ranges::equal_range(all, scope, {}, [&](const Object* object) { return scope_of(*object); });
}

const Object* Set::find(std::string_view kind, std::string_view name, const Object& from) const {
  const std::span<const Named> all = of_name(kind, name);
  const Object* found = nullptr;
  for (const Named& named : std::ranges::equal_range(all, scope_of(from), {}, &Named::scope)) {
    const Object* object = &objects_[named.object];
    if (!same_space(*object, from)) continue;
    if (object->file == from.file) return object;
    if (found == nullptr) found = object;
  }
  if (found != nullptr) return found;
  for (const Named& named : all) {
    const Object* object = &objects_[named.object];
    if (!same_space(*object, from)) continue;
    if (found != nullptr) return nullptr;
    found = object;
  }
  return found;
}

std::span<const Object* const> Set::beside(std::string_view kind, const Object& from) const {
  const Objects all = of_kind(kind);
  return closed_ ? all : of_scope(all, scope_of(from));
}

std::vector<const Object*> Set::targeting(std::string_view kind, std::string_view name, const Object& from) const {
  std::vector<const Object*> out;
  const std::uint32_t scope = closed_ ? 0 : scope_of(from);
  auto at = std::ranges::lower_bound(references_, Reference{name, kind, scope, 0});
  for (; at != references_.end() && at->name == name && at->kind == kind && at->scope == scope; ++at) {
    out.push_back(&objects_[at->object]);
  }
  return out;
}

std::span<const Object* const> Set::near(std::string_view kind, const Object& from) const {
  const Objects here = beside(kind, from);
  const Objects all = of_kind(kind);
  if (!here.empty() || all.empty()) return here;
  return scope_of(*all.front()) == scope_of(*all.back()) ? all : here;
}

}  // namespace capstan::lint
