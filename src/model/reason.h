#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace capstan::model {

/// Stable codes, one row each in model/reasons.inc. Logs, Events, conditions, the dashboard and the documentation use
/// the same codes, and a code is never reused.
enum class ReasonCode : std::uint8_t {
#define CAPSTAN_REASON(code, sentence) code,
#include "model/reasons.inc"
#undef CAPSTAN_REASON
};

inline constexpr std::size_t kReasonNumbers = 6;
using ReasonNumbers = std::array<std::int64_t, kReasonNumbers>;

/// Returns an id as a number of a reason; -1 for an invalid id.
template <typename Tag>
constexpr std::int64_t reason_number(Id<Tag> id) {
  return id.valid() ? static_cast<std::int64_t>(id.value) : -1;
}

/// The reason for a decision: a code and its numbers. The sentence of the code gives the meaning and unit of each
/// number. Numbers that a code does not use are 0.
struct Reason {
  ReasonCode code{};
  ReasonNumbers numbers{};

  friend bool operator==(const Reason&, const Reason&) = default;
};

std::string_view name(ReasonCode code);
/// Returns the template of a code's sentence (see model/reason_template.h).
std::string_view sentence_template(ReasonCode code);
/// Returns the sentence with the numbers filled in. It names an object by its id, such as "queue 3". The overload in
/// model/reason_sentence.h takes the names from a catalog.
std::string sentence(const Reason& reason);
std::size_t reason_count();

}  // namespace capstan::model
