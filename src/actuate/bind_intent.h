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

/// The annotation by which a pod says which bind transaction it belongs to, and where it goes.
inline constexpr std::string_view kBindIntent = "capstan.dev/bind";

/// One pod's part in a bind transaction, as persisted on the pod before the first of them is bound.
struct BindIntent {
  std::string transaction;
  std::string node;
  std::int64_t pods = 0;  ///< of the whole transaction
  friend bool operator==(const BindIntent&, const BindIntent&) = default;
};

std::string write_bind_intent(const BindIntent& intent);
std::optional<BindIntent> read_bind_intent(std::string_view text);

/// A pod and the node that it goes to.
struct Binding {
  Ref pod;
  std::string version;  ///< the pod's resource version at which it was seen, not bound; empty: not known
  std::string node;
};

/// A transaction that somebody began and did not end.
struct UnfinishedBind {
  std::string transaction;
  bool whole = false;  ///< every pod of it is there: it can be completed; else it is to be taken back
  std::vector<Binding> bindings;
};

/// The transactions of which a pod still waits to be bound. One whose pods are all bound is over, also when the gang
/// has lost pods since. In the order of their names.
std::vector<UnfinishedBind> unfinished_binds(std::span<const kube::Pod* const> pods);

}  // namespace capstan::actuate
