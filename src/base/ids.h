#pragma once

#include <compare>
#include <cstdint>

namespace capstan {

/// An index into one kind of table. Ids of different tables have different types, so that a NodeId cannot be passed as
/// a PodId. Ids are ordered, so that ties can be broken by id.
template <typename Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  std::uint32_t value = kNone;

  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace capstan
