#include "serve/awaited_outcomes.h"

namespace capstan::serve {

void AwaitedOutcomes::add(std::int64_t decision, std::int64_t state, const archive::RepeatedDecisions& decided) {
  std::int64_t position = 0;
  for (const std::uint64_t key : archive::action_keys(decided)) {
    places_[{decision, key}].push_back({state, position++});
    ++count_;
  }
  while (count_ > kMax) {
    count_ -= places_.begin()->second.size();
    places_.erase(places_.begin());
  }
}

std::optional<ShownOutcome> AwaitedOutcomes::take(std::int64_t decision, const archive::RecordedOutcome& outcome) {
  const auto found = places_.find({decision, outcome.action});
  if (found == places_.end()) return std::nullopt;
  const Place place = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) places_.erase(found);
  --count_;
  return ShownOutcome{place.state, place.position, outcome};
}

}  // namespace capstan::serve
