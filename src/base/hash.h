#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace capstan {

/// Mixes 64 bits bijectively (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A running hash of a state. It is the same on every machine and depends on the order of the additions.
class StateHash {
 public:
  constexpr void add(std::uint64_t word) { state_ = mix64(std::rotl(state_, 5) ^ word) + 0x9e3779b97f4a7c15ULL; }
  constexpr void add(std::string_view text) {
    for (char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    add(text.size());
  }
  constexpr std::uint64_t value() const { return mix64(state_); }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

constexpr std::uint64_t hash_text(std::string_view text) {
  StateHash hash;
  hash.add(text);
  return hash.value();
}

}  // namespace capstan
