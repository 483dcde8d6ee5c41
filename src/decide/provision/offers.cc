#include "decide/provision/offers.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace capstan::decide::provision {

void Need::add(const Offer& offer) {
  if (offers.size() == kConsideredMost) {
    ++left_out;
    return;
  }
  offers.push_back(offer);
}

void note_need(std::vector<Need>& needs, Need need, const std::optional<Offer>& chosen) {
  if (needs.size() == kNeedsMost) return;
  if (chosen) {
    const auto found = std::ranges::find_if(need.offers, [&](const Offer& offer) {
      return offer.purchase == chosen->purchase && offer.within == chosen->within;
    });
    if (found == need.offers.end()) {
      // The list was full before the chosen offer was considered.
      need.offers.back() = *chosen;
      need.offers.back().outcome = Offer::Outcome::chosen;
    } else {
      found->outcome = Offer::Outcome::chosen;
    }
  }
  std::ranges::sort(need.offers, {}, [](const Offer& offer) {
    return std::tuple(offer.outcome, offer.price, offer.purchase, offer.within);
  });
  if (need.offers.size() > Need::kShownMost) {
    need.left_out += static_cast<std::int64_t>(need.offers.size() - Need::kShownMost);
    need.offers.resize(Need::kShownMost);
  }
  needs.push_back(std::move(need));
}

}  // namespace capstan::decide::provision
