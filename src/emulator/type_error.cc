#include "emulator/type_error.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace capstan::emulator {

ApiError type_error(std::string_view field, std::string_view found, std::string_view expected) {
  return {400, fmt::format("{} is {}, expected {}", field, found, expected), std::string(field), "Bad Request"};
}

std::string_view type_name(const simdjson::dom::element& value) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a boolean";
    case element_type::NULL_VALUE:
      return "null";
    case element_type::INT64:
    case element_type::UINT64:
      return "an integer";
    case element_type::DOUBLE:
      return "a number with a fraction";
  }
  return "an unknown type";
}

}  // namespace capstan::emulator
