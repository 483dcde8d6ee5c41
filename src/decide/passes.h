#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "decide/options.h"

// A layer decides in passes: named steps in a stated order, each of which a policy can switch off. All passes of a
// layer share one context, which holds the inputs and what earlier passes decided.
namespace capstan::decide {

/// Names of the passes that a policy switches off.
using PassesOff = std::set<std::string, std::less<>>;

/// One pass of a layer.
template <typename Kind, typename Context>
struct Pass {
  std::string_view name;     ///< key of the pass in the policy
  std::optional<Kind> kind;  ///< kind of policy that has the pass; none: every kind
  void (*run)(Context&);

  bool belongs_to(Kind policy) const { return !kind || *kind == policy; }
};

/// Runs the passes of the policy's kind that are on, in their order. `broken_invariant(context)` returns the invariant
/// that a pass broke, or an empty text.
template <typename Kind, typename Context, typename BrokenInvariant>
void run_passes(std::span<const Pass<Kind, Context>> passes, Context& context, Verify verify,
                BrokenInvariant broken_invariant) {
  for (const Pass<Kind, Context>& pass : passes) {
    if (!pass.belongs_to(context.policy.kind) || context.policy.off.contains(pass.name)) continue;
    pass.run(context);
    if (verify == Verify::no) continue;
    const std::string broken = broken_invariant(context);
    if (!broken.empty()) assertion_failed((std::string(pass.name) + ": " + broken).c_str(), __FILE__, __LINE__);
  }
}

/// Returns the names of the passes of a kind of policy, in their order.
template <typename Kind, typename Context>
std::vector<std::string_view> names_of(std::span<const Pass<Kind, Context>> passes, Kind kind) {
  std::vector<std::string_view> names;
  for (const Pass<Kind, Context>& pass : passes) {
    if (pass.belongs_to(kind)) names.push_back(pass.name);
  }
  return names;
}

}  // namespace capstan::decide
