#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "model/ids.h"
#include "model/offering.h"
#include "model/reason.h"

// The purchases that provisioning considered for pods without room, for explanations.
namespace capstan::decide::provision {

/// A purchase that was considered.
struct Offer {
  enum class Outcome : std::uint8_t {
    chosen,
    not_cheapest,  ///< could be bought, but another offer has a pool of higher weight, a lower price, or a better zone
    refused,       ///< cannot be bought now; `why` gives the reason
    too_small,     ///< its nodes do not hold the pods
    not_allowed,   ///< the pods may not run on its nodes, or its domain already has its share of replicas
  };
  model::Purchase purchase;
  model::DomainId domain{};  ///< domain of all nodes; none: anywhere in the zone of the offering
  std::int64_t count = 0;    ///< nodes; 0 if it was not counted
  MicroUsd price{};          ///< price of the nodes per hour
  Outcome outcome = Outcome::not_cheapest;
  model::Reason why{};  ///< for `refused`, and for `too_small` if a resource other than GPUs is short
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// The purchases that were considered for pods without room.
struct OfferComparison {
  static constexpr std::size_t kMaxShown = 12;       ///< largest number of offers that note_comparison() keeps
  static constexpr std::size_t kMaxConsidered = 64;  ///< largest number of offers that are collected and sorted

  model::GangId gang{};  ///< none for a planned gang
  model::ServiceId service{};
  std::uint32_t ordinal = 0;
  model::GpuKindId gpu{};
  MilliGpu gpus{};  ///< GPUs of the pods without room
  std::vector<Offer> offers{};
  std::int64_t left_out = 0;  ///< offers that are not in the list
  friend bool operator==(const OfferComparison&, const OfferComparison&) = default;

  void add(const Offer& offer);
};

/// Largest number of comparisons that one decision keeps.
inline constexpr std::size_t kMaxComparisons = 64;

/// Marks the chosen offer, sorts the offers and adds the comparison to the list, unless the list is full.
/// @param chosen  the purchase and its domain; none: nothing is bought
void note_comparison(std::vector<OfferComparison>& offer_comparisons, OfferComparison comparison,
                     const std::optional<Offer>& chosen);

}  // namespace capstan::decide::provision
