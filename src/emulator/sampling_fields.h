#pragma once

#include <optional>
#include <string_view>

#include "emulator/api_error.h"
#include "emulator/completion_request.h"

namespace simdjson::dom {
class element;
}

namespace capstan::emulator {

/// Checks a field that changes how vLLM samples but not how long an emulated answer takes. Returns vLLM's error for a
/// value out of range, and an error for a value that asks for an answer of another form. Accepts all other fields.
std::optional<ApiError> check_sampling_field(std::string_view name, const simdjson::dom::element& value,
                                             CompletionKind kind);

}  // namespace capstan::emulator
