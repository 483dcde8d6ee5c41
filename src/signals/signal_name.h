#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/measure.h"

namespace capstan::signals {

/// A signal of a replica or gateway, independent of the metric names of its engine. The table is model/signals.inc.
enum class SignalName : std::uint8_t {
#define CAPSTAN_REPLICA_SIGNAL(name, measure, page_max, description) name,
#define CAPSTAN_PAGE_SIGNAL(name, measure, page_max, description) name,
#include "model/signals.inc"
};

using model::Measure;

struct SignalInfo {
  std::string_view name;
  Measure measure;
  std::int64_t max;  ///< largest plausible value; values more than 1 % above it are refused
  std::string_view description;
  bool is_of_replica;  ///< true if snapshots have it; false if it is only read from pages
};

inline constexpr SignalInfo kSignals[] = {
#define CAPSTAN_REPLICA_SIGNAL(name, measure, page_max, description) \
  {#name, Measure::measure, page_max, description, true},
#define CAPSTAN_PAGE_SIGNAL(name, measure, page_max, description) \
  {#name, Measure::measure, page_max, description, false},
#include "model/signals.inc"
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
enum class MissingReason : std::uint8_t {
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

constexpr const MissingInfo& info(MissingReason missing) { return kMissing[static_cast<std::size_t>(missing)]; }

}  // namespace capstan::signals
