#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace capstan::kube {

/// A value in a parsed JSON document, valid until the document parses again or is destroyed. A value that is absent or
/// has another type reads as the default, because fields of Kubernetes objects are optional and their schemas change.
class Json {
 public:
  Json() = default;

  bool exists() const { return present_; }  ///< false for null and absent values
  bool is_object() const;
  bool is_array() const;

  Json operator[](std::string_view key) const;
  std::string_view text() const;  ///< value of a string, else ""
  std::string string() const { return std::string(text()); }
  std::int64_t integer(std::int64_t fallback = 0) const;  ///< value of an integer of 64 bits, else the fallback
  bool boolean(bool fallback = false) const;
  std::string scalar() const;  ///< text of a string, a number or a boolean, for Kubernetes' IntOrString and Quantity

  /// Calls `visit(Json)` for each element of an array, in order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    items(&visit, [](void* v, Json item) { (*static_cast<std::remove_reference_t<Visit>*>(v))(item); });
  }
  /// Calls `visit(std::string_view key, Json value)` for each field of an object, in the order of the text.
  template <typename Visit>
  void for_each_field(Visit&& visit) const {
    fields(&visit, [](void* v, std::string_view key, Json value) {
      (*static_cast<std::remove_reference_t<Visit>*>(v))(key, value);
    });
  }

 private:
  friend class JsonDocument;
  struct Access;
  void items(void* visit, void (*call)(void*, Json)) const;
  void fields(void* visit, void (*call)(void*, std::string_view, Json)) const;

  alignas(std::size_t) std::byte element_[2 * sizeof(std::size_t)] = {};  // a simdjson::dom::element
  bool present_ = false;
};

/// A JSON parser (simdjson) that owns the parsed document. Each call of `parse` replaces the document.
class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();

  Result<Json> parse(std::string_view text);

  /// Frees the memory that a large text needed.
  void shrink();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Returns a text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
std::string json_quote(std::string_view text);

}  // namespace capstan::kube
