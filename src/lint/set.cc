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

Set::Set(std::span<const Object> objects, bool is_complete) : objects_(objects), is_complete_(is_complete) {
  scopes_.reserve(objects.size());
  by_name_.reserve(objects.size());
  name_ids_.reserve(objects.size());
  for (const Object& object : objects_) {
    // The objects of one file are adjacent.
    const bool same = object.index > 0 && objects_[object.index - 1].file == object.file;
    scopes_.push_back(same ? scopes_.back() : new_id(scope_ids_, object.file->scope));
    if (!object.is_of_other_group) add(object);
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
  if (object.has_unlisted_pods) with_unlisted_pods_.push_back(&object);
  if (!object.name.empty() && !is_template_variable(object.name)) {
    by_name_.push_back({kind, new_id(name_ids_, object.name), scope_of(object), object.index});
  }
  if (!scales_[kind]) return;
  const Value& target = at(object, "spec.scaleTargetRef");
  if (!target["name"].is_scalar() || is_template_variable(target["name"].text)) return;
  const std::string_view target_kind = target["kind"] ? target["kind"].text : std::string_view("Deployment");
  references_.push_back({target["name"].text, target_kind, is_complete_ ? 0 : scope_of(object), object.index});
}

void Set::sort() {
  std::ranges::sort(references_);
  std::ranges::sort(by_name_);
  const auto scope = [&](const Object* object) { return scope_of(*object); };
  for (std::vector<const Object*>& list : by_kind_) {
    // The list is unsorted only if a kustomization gave files a scope other than their folder.
    if (!std::ranges::is_sorted(list, {}, scope)) std::ranges::stable_sort(list, {}, scope);
  }
}

bool may_share_namespace(const Object& a, const Object& b) {
  return a.name_space.empty() || b.name_space.empty() || a.name_space == b.name_space;
}

bool is_template_variable(std::string_view name) { return name.find_first_of("${<%") != name.npos; }

bool is_generic_name(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "a",      "api",          "app",      "application", "autoscaled", "backend",    "cache",
      "cpu",    "cuda",         "decode",   "default",     "demo",       "deploy",     "deployment",
      "engine", "example",      "frontend", "gateway",     "gpu",        "hello",      "inference",
      "infer",  "job",          "keda",     "leader",      "llm",        "main",       "ml",
      "model",  "models",       "my",       "nginx",       "ollama",     "openai",     "php",
      "apache", "pod",          "prefill",  "prod",        "ray",        "router",     "sample",
      "scale",  "server",       "service",  "serve",       "serving",    "sglang",     "stateful",
      "target", "test",         "tgi",      "the",         "triton",     "trtllm",     "vllm",
      "web",    "worker",       "workers",  "workload",    "your",       "scaler",     "autoscaler",
      "hpa",    "scaledobject", "name",     "simple",      "basic",      "quickstart", "world"};
  while (!name.empty()) {
    const std::string_view word = name.substr(0, name.find_first_of("-_."));
    const bool number = word.find_first_not_of("0123456789") == word.npos;
    if (!number && std::ranges::find(kWords, word) == std::end(kWords)) return false;
    name.remove_prefix(std::min(name.size(), word.size() + 1));
  }
  return true;
}

bool Set::deployed_together(const Object& a, const Object& b) const {
  if (is_complete_ || a.file == b.file) return true;
  const auto deploys_b = [&](std::uint32_t unit) {
    return std::ranges::find(b.file->deployers, unit) != b.file->deployers.end();
  };
  return std::ranges::any_of(a.file->deployers, deploys_b);
}

bool Set::belong_together(const Object& a, const Object& b, std::string_view name) const {
  if (deployed_together(a, b)) return true;
  if (scope_of(a) != scope_of(b)) return false;
  const bool same_space = !a.name_space.empty() && a.name_space == b.name_space;
  const bool own_space = same_space && !is_generic_name(a.name_space);
  if (own_space || !is_generic_name(name)) return true;
  const Object& named = a.name == name ? a : b;
  return same_space && named.name == name && of_name(named.kind, name).size() == 1;
}

Set::Objects Set::of_kind(std::string_view kind) const {
  const std::uint32_t id = id_of(kind_ids_, kind);
  return id == kNone ? Objects() : Objects(by_kind_[id]);
}

std::span<const Set::NameEntry> Set::of_name(std::string_view kind, std::string_view name) const {
  const auto key = [](const NameEntry& named) { return std::pair(named.kind, named.name); };
  return std::ranges::equal_range(by_name_, std::pair(id_of(kind_ids_, kind), id_of(name_ids_, name)), {}, key);
}

Set::Objects Set::of_scope(Objects all, std::uint32_t scope) const {
  return std::ranges::equal_range(all, scope, {}, [&](const Object* object) { return scope_of(*object); });
}

const Object* Set::find(std::string_view kind, std::string_view name, const Object& from) const {
  const std::span<const NameEntry> all = of_name(kind, name);
  const Object* in_folder = nullptr;
  const Object* anywhere = nullptr;
  std::size_t count = 0;
  for (const NameEntry& named : all) {
    const Object* object = &objects_[named.object];
    if (!may_share_namespace(*object, from)) continue;
    if (object->file == from.file) return object;
    if (in_folder == nullptr && named.scope == scope_of(from)) in_folder = object;
    anywhere = object;
    ++count;
  }
  if (in_folder != nullptr) return in_folder;
  const bool is_certain =
      is_complete_ || !is_generic_name(name) || (anywhere != nullptr && deployed_together(*anywhere, from));
  return count == 1 && is_certain ? anywhere : nullptr;
}

std::span<const Object* const> Set::in_folder(std::string_view kind, const Object& from) const {
  const Objects all = of_kind(kind);
  return is_complete_ ? all : of_scope(all, scope_of(from));
}

std::vector<const Object*> Set::scalers_of_target(std::string_view kind, std::string_view name,
                                                  const Object& from) const {
  std::vector<const Object*> out;
  const std::uint32_t scope = is_complete_ ? 0 : scope_of(from);
  auto at = std::ranges::lower_bound(references_, Reference{name, kind, scope, 0});
  for (; at != references_.end() && at->name == name && at->kind == kind && at->scope == scope; ++at) {
    out.push_back(&objects_[at->object]);
  }
  return out;
}

std::span<const Object* const> Set::in_closest_folder(std::string_view kind, const Object& from) const {
  const Objects nearby = in_folder(kind, from);
  const Objects all = of_kind(kind);
  if (!nearby.empty() || all.empty()) return nearby;
  return scope_of(*all.front()) == scope_of(*all.back()) ? all : nearby;
}

}  // namespace capstan::lint
