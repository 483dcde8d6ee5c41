#pragma once

#include <optional>
#include <string_view>

#include "emulator/api_error.h"
#include "emulator/completion_request.h"

namespace simdjson::dom {
class element;
}

namespace capstan::emulator {

/// Checks a field that changes how vLLM samples and nothing about how long an emulated answer takes. Returns vLLM's
/// error for a value out of its range, and a refusal for a value that would give an answer of another shape. Other
/// fields pass.
std::optional<ApiError> check_sampling_field(std::string_view name, const simdjson::dom::element& value,
                                             CompletionKind kind);

}  // namespace capstan::emulator
