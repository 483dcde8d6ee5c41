#pragma once

#include <optional>
#include <string>
#include <vector>

#include "archive/recorded_outcome.h"
#include "archive/recording.h"
#include "archive/replay.h"
#include "base/error.h"
#include "base/time.h"

// The answer of `capstan replay`: the actions of a recording, decided again, as text and as JSON.
namespace capstan::serve {

/// An action, or a reason why there is none.
struct ReplayLine {
  std::string text;
  bool is_action = false;
  std::optional<archive::RecordedOutcome> outcome{};  ///< outcome of an action; no value: the recording has none
};
using ReplayLines = std::vector<ReplayLine>;

/// The lines of one recorded state.
struct ReplayedLines {
  Instant at{};
  ReplayLines recorded{};
  ReplayLines other{};  ///< lines of the other policies; empty without such policies
};

struct ReplayReport {
  std::string policy;                 ///< name of the recorded policy
  std::vector<ReplayedLines> states;  ///< states with actions; with other policies, only the first state that differs
  Instant first{};
  Instant last{};
  bool compares = false;      ///< true: the decisions are compared with those of other policies
  bool has_outcomes = false;  ///< true: the recording has the outcomes of its actions
  archive::ReplayCount count{};
};

/// Decides a recording again. Keeps the actions, or, with other policies, the first state in which these act
/// differently.
Result<ReplayReport> replay_report(archive::Recording& recording, const archive::OtherPolicies& other);
std::string replay_text(const ReplayReport& all, std::size_t width);
std::string replay_json(const ReplayReport& all);

/// The decision of one recorded state.
struct ReplayedMoment {
  std::string policy{};  ///< name of the recorded policy
  Instant at{};
  ReplayLines lines{};
  std::string arithmetic{};
  bool has_outcomes = false;  ///< true: the recording has the outcomes of its actions
};
/// Decides the first state at or after a moment again.
/// @param at  moment as a user writes it, see `experiment::read_recorded_moment`
Result<ReplayedMoment> replayed_moment(archive::Recording& recording, const std::string& at);
std::string moment_text(const ReplayedMoment& moment, std::size_t width);
std::string moment_json(const ReplayedMoment& moment);

}  // namespace capstan::serve
