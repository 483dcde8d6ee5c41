#pragma once

#include <optional>
#include <string_view>

#include "conformance/case_input.h"
#include "conformance/value.h"

/// Functions that return a peer's answer to a case, or nothing if the peer has no such kind. The `schema` of a case
/// file describes the kinds.
namespace capstan::conformance {

std::optional<Value> answer_hpa(std::string_view kind, const CaseInput& given);
std::optional<Value> answer_kpa(std::string_view kind, const CaseInput& given);
std::optional<Value> answer_keda(std::string_view kind, const CaseInput& given);
std::optional<Value> answer_ray_serve(std::string_view kind, const CaseInput& given);
std::optional<Value> answer_wva(std::string_view kind, const CaseInput& given);
std::optional<Value> answer_aibrix(std::string_view kind, const CaseInput& given);

}  // namespace capstan::conformance
