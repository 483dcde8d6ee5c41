#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "archive/recorded_outcome.h"

namespace capstan::serve {

/// The outcome of an action that the page shows already.
struct ShownOutcome {
  std::int64_t state = 0;     ///< position of its state on the page
  std::int64_t position = 0;  ///< position among the actions of the state, from 0
  archive::RecordedOutcome outcome{};
};

/// The actions on the page whose outcomes have not come yet.
class AwaitedOutcomes {
 public:
  static constexpr std::size_t kMax = 10'000;  ///< actions; beyond it the oldest ones are forgotten

  /// @param decision  key by which outcomes name their decision: in a recording the number of its state, in a live run
  ///                  its time
  /// @param state     position of the state on the page
  void add(std::int64_t decision, std::int64_t state, const archive::RepeatedDecisions& decided);
  /// Returns the place of an outcome on the page, and forgets its action; nothing if no such action is awaited.
  std::optional<ShownOutcome> take(std::int64_t decision, const archive::RecordedOutcome& outcome);

 private:
  struct Place {
    std::int64_t state = 0;
    std::int64_t position = 0;
  };
  std::map<std::pair<std::int64_t, std::uint64_t>, std::deque<Place>> places_;
  std::size_t count_ = 0;
};

}  // namespace capstan::serve
