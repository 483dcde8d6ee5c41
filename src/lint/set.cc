#include "lint/set.h"

#include <algorithm>
#include <tuple>

namespace capstan::lint {
namespace {

std::uint32_t id_of(std::unordered_map<std::string_view, std::uint32_t>& ids, std::string_view word) {
  return ids.emplace(word, static_cast<std::uint32_t>(ids.size())).first->second;
}

}  // namespace

Set::Set(std::span<const Object> objects, bool closed) : objects_(objects), closed_(closed) {
  Ids scope_ids;
  for (const Object& object : objects_) {
    kinds_.push_back(id_of(kind_ids_, object.kind));
    scopes_.push_back(id_of(scope_ids, object.file->scope));
    by_scope_.push_back(&object);
    if (!object.name.empty()) by_name_.push_back(&object);
    const Value& target = at(object, "spec.scaleTargetRef");
    if (!target["name"].is_scalar()) continue;
    const std::string_view kind = target["kind"] ? target["kind"].text : std::string_view("Deployment");
    references_.push_back({target["name"].text, kind, closed ? 0 : scopes_.back(), object.index});
  }
  std::ranges::sort(references_);
  std::ranges::sort(by_scope_, {}, [&](const Object* object) {
    return std::tuple(kinds_[object->index], scope_of(*object), object->index);
  });
  std::ranges::sort(by_name_, {}, [&](const Object* object) {
    return std::tuple(kinds_[object->index], object->name, scope_of(*object), object->index);
  });
}

bool same_space(const Object& a, const Object& b) { return a.space.empty() || b.space.empty() || a.space == b.space; }

std::uint32_t Set::kind_of(std::string_view kind) const {
  const auto found = kind_ids_.find(kind);
  return found == kind_ids_.end() ? UINT32_MAX : found->second;
}

Set::Objects Set::of_kind(std::string_view kind) const {
  const auto key = [&](const Object* object) { return kinds_[object->index]; };
  return std::ranges::equal_range(by_scope_, kind_of(kind), {}, key);
}

Set::Objects Set::of_name(std::string_view kind, std::string_view name) const {
  const auto key = [&](const Object* object) { return std::tuple(kinds_[object->index], object->name); };
  return std::ranges::equal_range(by_name_, std::tuple(kind_of(kind), name), {}, key);
}

Set::Objects Set::of_scope(Objects all, std::uint32_t scope) const {
  return std::ranges::equal_range(all, scope, {}, [&](const Object* object) { return scope_of(*object); });
}

const Object* Set::find(std::string_view kind, std::string_view name, const Object& from) const {
  const Objects all = of_name(kind, name);
  const Object* found = nullptr;
  for (const Object* object : of_scope(all, scope_of(from))) {
    if (!same_space(*object, from)) continue;
    if (object->file == from.file) return object;
    if (found == nullptr) found = object;
  }
  if (found != nullptr) return found;
  for (const Object* object : all) {
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
