#include "decide/provision/offers.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace capstan::decide::provision {

void OfferComparison::add(const Offer& offer) {
  if (offers.size() == kMaxConsidered) {
    ++left_out;
    return;
  }
  offers.push_back(offer);
}

void note_comparison(std::vector<OfferComparison>& offer_comparisons, OfferComparison comparison,
                     const std::optional<Offer>& chosen) {
  if (offer_comparisons.size() == kMaxComparisons) return;
  if (chosen) {
    const auto found = std::ranges::find_if(comparison.offers, [&](const Offer& offer) {
      return offer.purchase == chosen->purchase && offer.domain == chosen->domain;
    });
    if (found == comparison.offers.end()) {
      // The list was full before the chosen offer was considered.
      comparison.offers.back() = *chosen;
      comparison.offers.back().outcome = Offer::Outcome::chosen;
    } else {
      found->outcome = Offer::Outcome::chosen;
    }
  }
  std::ranges::sort(comparison.offers, {}, [](const Offer& offer) {
    return std::tuple(offer.outcome, offer.price, offer.purchase, offer.domain);
  });
  if (comparison.offers.size() > OfferComparison::kMaxShown) {
    comparison.left_out += static_cast<std::int64_t>(comparison.offers.size() - OfferComparison::kMaxShown);
    comparison.offers.resize(OfferComparison::kMaxShown);
  }
  offer_comparisons.push_back(std::move(comparison));
}

}  // namespace capstan::decide::provision
