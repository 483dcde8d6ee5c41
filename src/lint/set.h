#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lint/object.h"

namespace capstan::lint {

/// All objects of the input. One folder of manifests usually belongs to one application, but the folders of a
/// repository of examples belong to many clusters. A related object is therefore looked up in the same folder first,
/// and elsewhere only if the match is unambiguous.
class Set {
 public:
  /// @param is_complete  true if the input is one complete cluster. It then counts as one folder whose objects are all
  /// deployed together.
  Set(std::span<const Object> objects, bool is_complete);

  /// Returns the object that `from` refers to by a name. An object in the same file or folder is preferred. An object
  /// elsewhere counts only if it is the only one with this name. If the name is generic, the input must also be
  /// complete, or the object must be deployed together with `from`.
  const Object* find(std::string_view kind, std::string_view name, const Object& from) const;

  /// Returns the objects of a kind in the folder of `from`. If that folder has none and exactly one other folder
  /// has some, returns the objects of the other folder.
  std::span<const Object* const> in_closest_folder(std::string_view kind, const Object& from) const;

  /// Returns the objects of a kind in the folder of `from`.
  std::span<const Object* const> in_folder(std::string_view kind, const Object& from) const;

  /// Returns the scalers in the folder of `from` whose `scaleTargetRef` names this target.
  std::vector<const Object*> scalers_of_target(std::string_view kind, std::string_view name, const Object& from) const;

  /// Returns all objects of a kind.
  std::span<const Object* const> of_kind(std::string_view kind) const;

  /// Returns all objects that seem to contain pods although their kind has no pod shapes.
  std::span<const Object* const> with_unlisted_pods() const { return with_unlisted_pods_; }

  bool is_complete() const { return is_complete_; }

  /// Returns true if one file, one kustomization or one chart shows that both objects are deployed together. A common
  /// folder is no evidence, because unrelated examples often lie in one folder.
  bool deployed_together(const Object& a, const Object& b) const;
  /// Returns true if the objects are deployed together. Also returns true if they are in one folder and share a name
  /// that is not generic: their namespace, or the name by which one refers to the other. A generic name is enough if
  /// both state the same namespace and the input has no other object of this kind and name.
  bool belong_together(const Object& a, const Object& b, std::string_view name) const;

 private:
  /// The target of a `scaleTargetRef`. Without a kind it means a Deployment.
  struct Reference {
    std::string_view name, kind;
    std::uint32_t scope = 0;
    std::uint32_t object = 0;
    auto operator<=>(const Reference&) const = default;
  };
  /// An entry of the index of objects by name.
  struct NameEntry {
    std::uint32_t kind = 0, name = 0, scope = 0, object = 0;
    auto operator<=>(const NameEntry&) const = default;
  };
  using Ids = std::unordered_map<std::string_view, std::uint32_t>;
  using Objects = std::span<const Object* const>;

  void add(const Object& object);
  void sort();
  std::uint32_t scope_of(const Object& object) const { return scopes_[object.index]; }
  std::span<const NameEntry> of_name(std::string_view kind, std::string_view name) const;
  /// Returns the objects of one scope from a list that is sorted by scope.
  Objects of_scope(Objects all, std::uint32_t scope) const;

  std::span<const Object> objects_;
  bool is_complete_;
  Ids kind_ids_, name_ids_, scope_ids_;
  std::vector<std::uint32_t> scopes_;                ///< scope of each object
  std::vector<std::vector<const Object*>> by_kind_;  ///< objects of each kind, sorted by scope and order in the input
  std::vector<bool> scales_;                         ///< true for each kind whose objects may have a `scaleTargetRef`
  std::vector<NameEntry> by_name_;                   ///< index, sorted by all fields
  std::vector<const Object*> with_unlisted_pods_;    ///< objects of unknown kinds with pods, in the order of the input
  std::vector<Reference> references_;                ///< targets of all scalers, sorted by all fields
};

/// Returns true for a name that many workloads share: "vllm", "my-app", "llm-inference-server".
bool is_generic_name(std::string_view name);

/// Returns true for a variable that is filled in later, `${TARGET}` or `<name>`. It may become any name.
bool is_template_variable(std::string_view name);

/// Returns true if both objects may be in the same namespace. An object that states no namespace may be in any.
bool may_share_namespace(const Object& a, const Object& b);

}  // namespace capstan::lint
