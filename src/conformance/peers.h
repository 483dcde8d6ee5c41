#pragma once

#include <span>
#include <string_view>

#include "conformance/case_input.h"
#include "conformance/value.h"

namespace capstan::conformance {

/// A part of a peer that cases test. docs/reference/conformance.md describes the fields of each kind.
struct Kind {
  std::string_view name;
  /// Computes the answer to a case's input, as an object. `given` records unreadable input.
  Value (*answer)(const CaseInput& given);
};

/// The kinds of each suite.
std::span<const Kind> hpa_kinds();
std::span<const Kind> kpa_kinds();
std::span<const Kind> keda_kinds();
std::span<const Kind> ray_serve_kinds();
std::span<const Kind> wva_kinds();
std::span<const Kind> aibrix_kinds();

}  // namespace capstan::conformance
