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
    dearer,       ///< could be bought, but another one is cheaper, or equally cheap and preferred
    refused,      ///< cannot be bought now; `why` gives the reason
    too_small,    ///< its nodes do not hold the pods
    not_allowed,  ///< the pods may not run on its nodes, or its domain has its share of the replicas
  };
  model::Purchase purchase;
  model::DomainId within{};  ///< domain of all nodes; none: anywhere in the zone of the offering
  std::int64_t count = 0;    ///< nodes; 0 if it was not counted
  MicroUsd price{};          ///< price of the nodes per hour
  Outcome outcome = Outcome::dearer;
  model::Reason why{};
  friend bool operator==(const Offer&, const Offer&) = default;
};

/// Pods for which nodes are needed, and the purchases that were considered for them.
struct Need {
  static constexpr std::size_t kShownMost = 12;       ///< most offers that are kept
  static constexpr std::size_t kConsideredMost = 64;  ///< most offers of which the kept ones are the best

  model::GangId gang{};  ///< none for a planned gang
  model::ServiceId service{};
  std::uint32_t ordinal = 0;
  model::GpuKindId gpu{};
  MilliGpu gpus{};  ///< GPUs of the pods without room
  std::vector<Offer> offers{};
  std::int64_t left_out = 0;  ///< offers that are not in the list
  friend bool operator==(const Need&, const Need&) = default;

  void add(const Offer& offer);
};

/// Most needs that one decision keeps.
inline constexpr std::size_t kNeedsMost = 64;

/// Marks the chosen offer, sorts the offers and adds the need to the list, unless the list is full.
/// @param chosen  the purchase and its domain; none: nothing is bought
void note_need(std::vector<Need>& needs, Need need, const std::optional<Offer>& chosen);

}  // namespace capstan::decide::provision
