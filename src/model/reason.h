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

/// Returns an id as a number of a reason: -1 if it is none.
template <typename Tag>
constexpr std::int64_t reason_number(Id<Tag> id) {
  return id.valid() ? static_cast<std::int64_t>(id.value) : -1;
}

/// Says why something was decided: a code, and numbers whose meaning and units its sentence gives in order. Numbers
/// that a code does not use are 0.
struct Reason {
  ReasonCode code{};
  ReasonNumbers numbers{};

  friend bool operator==(const Reason&, const Reason&) = default;
};

std::string_view name(ReasonCode code);
/// Returns the sentence of the table as it stands there, in the form of model/reason_template.h.
std::string_view sentence_template(ReasonCode code);
/// Returns the sentence with the numbers filled in. An object is named by its id, "queue 3"; model/reason_sentence.h
/// names it as its catalog does.
std::string sentence(const Reason& reason);
std::size_t reason_count();

}  // namespace capstan::model
