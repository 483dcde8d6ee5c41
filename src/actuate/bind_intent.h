#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/effect.h"
#include "kube/pod_view.h"

namespace capstan::actuate {

/// Annotation of a pod with its bind transaction and its node.
inline constexpr std::string_view kBindIntent = "capstan.dev/bind";

/// One pod's part of a bind transaction. Every pod gets its part as an annotation before the first pod is bound.
struct BindIntent {
  std::string transaction;
  std::string node;
  std::int64_t pods = 0;  ///< number of pods in the transaction
  friend bool operator==(const BindIntent&, const BindIntent&) = default;
};

std::string write_bind_intent(const BindIntent& intent);
std::optional<BindIntent> read_bind_intent(std::string_view text);

/// A pod and the node to bind it to.
struct Binding {
  Ref pod;
  std::string version;  ///< resource version at which the pod was seen unbound; empty: not known
  std::string node;
};

/// A bind transaction that was begun and not finished, for example because the leader changed.
struct UnfinishedBind {
  std::string transaction;
  bool complete = false;  ///< true: all pods exist, so the transaction can be completed; false: it must be rolled back
  std::vector<Binding> bindings;
};

/// Returns the transactions with a pod that is not bound yet, sorted by name. A transaction is finished when all its
/// existing pods are bound, even if the gang has lost pods since.
std::vector<UnfinishedBind> unfinished_binds(std::span<const kube::Pod* const> pods);

}  // namespace capstan::actuate
