#include "kube/json.h"

#include <cstdio>
#include <cstring>
#include <type_traits>

#include <simdjson.h>

namespace capstan::kube {

using simdjson::dom::element;
static_assert(sizeof(element) == 2 * sizeof(std::size_t) && alignof(element) <= alignof(std::size_t));
static_assert(std::is_trivially_copyable_v<element>);

struct Json::Access {
  static Json wrap(element value) {
    Json json;
    json.present_ = !value.is_null();
    std::memcpy(json.element_, &value, sizeof value);
    return json;
  }
  static element unwrap(const Json& json) {
    element value;
    std::memcpy(static_cast<void*>(&value), json.element_, sizeof value);
    return value;
  }
};

bool Json::is_object() const { return present_ && Access::unwrap(*this).is_object(); }
bool Json::is_array() const { return present_ && Access::unwrap(*this).is_array(); }

Json Json::operator[](std::string_view key) const {
  if (!is_object()) return {};
  element value;
  return Access::unwrap(*this).at_key(key).get(value) == simdjson::SUCCESS ? Access::wrap(value) : Json();
}

std::string_view Json::text() const {
  std::string_view value;
  return present_ && Access::unwrap(*this).get(value) == simdjson::SUCCESS ? value : std::string_view();
}

std::int64_t Json::integer(std::int64_t fallback) const {
  std::int64_t value = 0;
  return present_ && Access::unwrap(*this).get(value) == simdjson::SUCCESS ? value : fallback;
}

bool Json::boolean(bool fallback) const {
  bool value = false;
  return present_ && Access::unwrap(*this).get(value) == simdjson::SUCCESS ? value : fallback;
}

std::string Json::scalar() const {
  if (!present_ || is_object() || is_array()) return {};
  const element value = Access::unwrap(*this);
  return value.is_string() ? std::string(text()) : simdjson::minify(value);
}

void Json::items(void* visit, void (*call)(void*, Json)) const {
  if (!is_array()) return;
  // The array has a name, so that it lives as long as the loop.
  const simdjson::dom::array array = Access::unwrap(*this).get_array().value_unsafe();
  for (const element item : array) call(visit, Access::wrap(item));
}

void Json::fields(void* visit, void (*call)(void*, std::string_view, Json)) const {
  if (!is_object()) return;
  // The object has a name, so that it lives as long as the loop.
  const simdjson::dom::object object = Access::unwrap(*this).get_object().value_unsafe();
  for (const auto field : object) {
    call(visit, field.key, Access::wrap(field.value));
  }
}

struct JsonDocument::Parser {
  simdjson::dom::parser parser;
};

JsonDocument::JsonDocument() : parser_(std::make_unique<Parser>()) {}
JsonDocument::~JsonDocument() = default;

Result<Json> JsonDocument::parse(std::string_view text) {
  element root;
  // The parser reads a few bytes past the end, so it copies the text into padded memory. The source of the copy must
  // not be null, even for an empty text.
  const simdjson::error_code code = parser_->parser.parse(text.empty() ? "" : text.data(), text.size(), true).get(root);
  if (code != simdjson::SUCCESS) {
    Error error;
    error.message = "not JSON: " + std::string(simdjson::error_message(code));
    return std::unexpected(std::move(error));
  }
  return Json::Access::wrap(root);
}

void JsonDocument::shrink() { parser_ = std::make_unique<Parser>(); }

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text[0];
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else {
      const auto lead = static_cast<unsigned char>(c);
      const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
      const bool valid = length <= text.size() && simdjson::validate_utf8(text.data(), length);
      out += valid ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
      text.remove_prefix(valid ? length : 1);
      continue;
    }
    text.remove_prefix(1);
  }
  return out + '"';
}

}  // namespace capstan::kube
