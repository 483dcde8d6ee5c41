#pragma once

#include <compare>
#include <cstdint>
#include <functional>

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

template <typename Tag>
struct std::hash<capstan::Id<Tag>> {
  std::size_t operator()(capstan::Id<Tag> id) const noexcept { return id.value; }
};
