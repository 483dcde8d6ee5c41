#pragma once

#include <compare>
#include <cstdint>

namespace capstan {

/// An index that only fits the table it was made for: a NodeId is not a PodId. Ordered, so that every tie has a winner.
template <typename Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t value = kNone;

  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace capstan
