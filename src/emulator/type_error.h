#pragma once

#include <string_view>

#include "emulator/api_error.h"

namespace simdjson::dom {
class element;
}

namespace capstan::emulator {

/// Returns the error for a field of another type: "seed is a string, expected an integer".
ApiError type_error(std::string_view field, std::string_view found, std::string_view expected);

/// Returns the type of a JSON value, for example "a string".
std::string_view type_name(const simdjson::dom::element& value);

}  // namespace capstan::emulator
