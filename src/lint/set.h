#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lint/object.h"

namespace capstan::lint {

/// All objects of the input. A folder of manifests is mostly one application, and a repository of examples mostly not
/// one cluster: what belongs together is looked for in the same folder first, and beyond it only where there is no
/// doubt.
class Set {
 public:
  /// @param closed  all of the input is one cluster
  Set(std::span<const Object> objects, bool closed);

  /// Returns the object that `from` means by a name: in its own file or folder, or the only one of a name that is not
  /// generic.
  const Object* find(std::string_view kind, std::string_view name, const Object& from) const;

  /// The objects of a kind that stand with `from`: of its folder; where there are none, of the one folder that has any.
  std::span<const Object* const> near(std::string_view kind, const Object& from) const;

  /// Only those of the same folder.
  std::span<const Object* const> beside(std::string_view kind, const Object& from) const;

  /// The scalers of that folder whose `scaleTargetRef` names this one.
  std::vector<const Object*> targeting(std::string_view kind, std::string_view name, const Object& from) const;

  bool closed() const { return closed_; }

  /// Returns true if one file, one kustomization or one chart shows that both are deployed together. Lying in one
  /// folder shows nothing: examples lie there side by side.
  bool deployed_together(const Object& a, const Object& b) const;
  /// Returns true as above, and if both lie in one folder and one refers to the other by a name of its own, taken with
  /// its namespace where both state one.
  bool belong_together(const Object& a, const Object& b, std::string_view name) const;

 private:
  /// What a `scaleTargetRef` names. No kind means a Deployment.
  struct Reference {
    std::string_view name, kind;
    std::uint32_t scope = 0;
    std::uint32_t object = 0;
    auto operator<=>(const Reference&) const = default;
  };
  /// An object that has a name, for whoever knows that.
  struct Named {
    std::uint32_t kind = 0, name = 0, scope = 0, object = 0;
    auto operator<=>(const Named&) const = default;
  };
  using Ids = std::unordered_map<std::string_view, std::uint32_t>;
  using Objects = std::span<const Object* const>;

  void add(const Object& object);
  void sort();
  std::uint32_t scope_of(const Object& object) const { return scopes_[object.index]; }
  Objects of_kind(std::string_view kind) const;
  std::span<const Named> of_name(std::string_view kind, std::string_view name) const;
  /// Those of one scope, in a list that is ordered by it.
  Objects of_scope(Objects all, std::uint32_t scope) const;

  std::span<const Object> objects_;
  bool closed_;
  Ids kind_ids_, name_ids_, scope_ids_;
  std::vector<std::uint32_t> scopes_;                ///< of each object
  std::vector<std::vector<const Object*>> by_kind_;  ///< each by scope and place in the input
  std::vector<bool> scales_;                         ///< of each kind: may its objects have a `scaleTargetRef`?
  std::vector<Named> by_name_;                       ///< by all of it
  std::vector<Reference> references_;                ///< by all of it
};

/// Returns true for a name that many workloads have: "vllm", "my-app", "llm-inference-server".
bool is_generic_name(std::string_view name);

/// Returns true for a name that is filled in later, `${TARGET}` or `<name>`: it may become any.
bool is_hole(std::string_view name);

/// Of one namespace as far as is known: a namespace that is not said may be any.
bool same_space(const Object& a, const Object& b);

}  // namespace capstan::lint
