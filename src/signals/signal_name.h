#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace capstan::signals {

/// A signal of a replica or gateway, independent of the metric names of its engine. The table is signals.inc.
enum class SignalName : std::uint8_t {
#define CAPSTAN_SIGNAL(name, measure, max, description) name,
#include "signals/signals.inc"
#undef CAPSTAN_SIGNAL
};

/// Quantity that a signal counts, with its unit.
enum class Measure : std::uint8_t { requests, tokens, ppm, percent, microseconds };

struct SignalInfo {
  std::string_view name;
  Measure measure;
  std::int64_t max;  ///< largest plausible value; larger values are refused
  std::string_view description;
};

inline constexpr SignalInfo kSignals[] = {
#define CAPSTAN_SIGNAL(name, measure, max, description) {#name, Measure::measure, max, description},
#include "signals/signals.inc"
#undef CAPSTAN_SIGNAL
};

inline constexpr std::size_t kSignalCount = std::size(kSignals);

constexpr const SignalInfo& info(SignalName name) { return kSignals[static_cast<std::size_t>(name)]; }

constexpr std::optional<SignalName> signal_named(std::string_view text) {
  for (std::size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i].name == text) return static_cast<SignalName>(i);
  }
  return std::nullopt;
}

/// Reason why a page did not give a signal. The table is missing.inc.
enum class Missing : std::uint8_t {
#define CAPSTAN_MISSING(code, sentence) code,
#include "signals/missing.inc"
#undef CAPSTAN_MISSING
};

struct MissingInfo {
  std::string_view code;
  std::string_view sentence;
};

inline constexpr MissingInfo kMissing[] = {
#define CAPSTAN_MISSING(code, sentence) {#code, sentence},
#include "signals/missing.inc"
#undef CAPSTAN_MISSING
};

constexpr const MissingInfo& info(Missing missing) { return kMissing[static_cast<std::size_t>(missing)]; }

}  // namespace capstan::signals
