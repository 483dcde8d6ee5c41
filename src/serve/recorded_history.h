#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "experiment/run/run_history.h"

namespace capstan::serve {

/// The history of nodes and replicas, as a report shows it. The states come from a recording, a running simulation or a
/// controller. One thread notes the states, and another one may ask for the history.
class RecordedHistory {
 public:
  /// @param generation  number of the first history; differs between servers, so that no page mixes their histories
  explicit RecordedHistory(std::int64_t generation);

  /// Notes the state after the last noted one, with the reasons why its replicas wait.
  void note(const archive::SavedState& state, const archive::RepeatedDecisions& decided);
  /// Begins another history.
  void clear();

  /// Returns the rows of nodes and replicas that changed after a place, as JSON on one line.
  /// @param after  the `place` of an earlier answer; if it belongs to another history, the answer has all rows
  std::string json(std::string_view after) const;

 private:
  mutable std::mutex mutex_;
  std::int64_t generation_;
  experiment::HistoryRecorder recorder_;
  model::Snapshot before_{};
};

}  // namespace capstan::serve
