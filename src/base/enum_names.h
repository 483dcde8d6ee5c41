#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

// Tables of the names of an enum's values. A table is an array in the order of the enum, and the only place that spells
// these names.
namespace capstan {

/// Returns the name of a value.
template <typename Enum, std::size_t count>
constexpr std::string_view enum_name(const std::array<std::string_view, count>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// Returns the value of a name, or nothing if no value has this name.
template <typename Enum, std::size_t count>
constexpr std::optional<Enum> enum_named(const std::array<std::string_view, count>& names, std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// Returns the pair of a value's name and the value, as functions that parse an enum expect it.
template <typename Enum, std::size_t count>
constexpr std::pair<std::string_view, Enum> named_value(const std::array<std::string_view, count>& names, Enum value) {
  return {enum_name(names, value), value};
}

/// Returns one column of a table whose rows hold several names of a value, such as its key in files and its Kubernetes
/// label.
template <typename Row, std::size_t count>
constexpr std::array<std::string_view, count> enum_column(const std::array<Row, count>& table,
                                                          std::string_view Row::* kind) {
  std::array<std::string_view, count> names;
  for (std::size_t i = 0; i < count; ++i) names[i] = table[i].*kind;
  return names;
}

}  // namespace capstan
