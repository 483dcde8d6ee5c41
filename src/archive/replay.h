#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "archive/recording.h"
#include "archive/redecide.h"
#include "manifest/errors.h"

namespace capstan::archive {

/// Policies that replace those of a recording. An empty layer keeps its recorded policy.
struct OtherPolicies {
  std::optional<decide::scale::Policy> scale{};  ///< policy of every service
  std::optional<decide::place::Policy> place{};
  std::optional<decide::provision::Policy> provision{};

  bool any() const { return scale || place || provision; }
};

/// Reads a file with the keys scale, place and provision.
/// @param path  empty: there are no other policies
std::expected<OtherPolicies, manifest::Errors> read_policies(const std::string& path);

/// The decisions of one recorded state.
struct ReplayedState {
  const SavedState& state;
  const RepeatedDecisions& recorded;  ///< decisions under the recorded policies
  const RepeatedDecisions& other;     ///< decisions under the other policies; the same object if there are none
  bool differs = false;               ///< true: their plans have other actions
};

struct ReplayCount {
  std::int64_t states = 0;
  std::int64_t differing = 0;  ///< states in which the other policies decide otherwise
  std::int64_t damaged = 0;    ///< damaged states, which were left out
};

/// Returns whether two plans have the same actions, whatever their reasons.
bool have_same_actions(const model::Plan& a, const model::Plan& b);

/// Decides a whole recording again, state after state. The recorded cluster does not change with the actions of other
/// policies. So for each service only the first difference is certain: with that action, the later states would differ.
/// A replaced layer continues its own memory from state to state; other layers take the recorded one.
/// @param visit  called with each state; returns false to end the replay
Result<ReplayCount> replay(Recording& recording, const OtherPolicies& other,
                           const std::function<bool(const ReplayedState&)>& visit);

}  // namespace capstan::archive
