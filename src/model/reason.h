#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::model {

/// Stable codes: the same in the log, the Event, the condition, the dashboard and the docs. Never reused.
/// The table, with the words of each, is model/reasons.inc.
enum class ReasonCode : std::uint8_t {
#define CAPSTAN_REASON(code, sentence) code,
#include "model/reasons.inc"
#undef CAPSTAN_REASON
};

/// Why: a code and up to four numbers, whose meanings the table's sentence gives in order.
struct Reason {
  ReasonCode code{};
  std::array<std::int64_t, 4> numbers{};

  friend bool operator==(const Reason&, const Reason&) = default;
};

std::string_view name(ReasonCode code);
/// The sentence of the table with the numbers filled in. A number that is an id reads "queue 3"; the names of a catalog
/// are put in by model/reason_sentence.h.
std::string sentence(const Reason& reason);
std::size_t reason_count();

}  // namespace capstan::model
