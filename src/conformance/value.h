#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace capstan::conformance {

class Value;

/// A name and its value. It contains a Value, and Value's inline constructors need it as a complete type. Only a
/// template meets both: it is instantiated when these constructors are compiled, after the end of class Value.
template <typename V>
struct NamedValue {
  std::string key;
  V value;
};

using Member = NamedValue<Value>;

/// A JSON value: a case's input and expectation, and a peer's answer.
class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;  ///< members in the order of the file

  Value() = default;  ///< makes null
  Value(bool value) : data_(value) {}
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  Value(Integer value) : data_(static_cast<std::int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(Array items) : data_(std::move(items)) {}
  Value(Object members) : data_(std::move(members)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const std::string* text() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  Array* array() { return std::get_if<Array>(&data_); }
  Object* object() { return std::get_if<Object>(&data_); }

  /// Returns the member of this name; null if there is none or this is not an object.
  const Value& operator[](std::string_view key) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

/// Makes an object of these members.
Value object(std::initializer_list<Member> members);

/// Makes an array with `convert(item)` for every item.
template <typename Items, typename Convert>
Value array_of(const Items& items, Convert convert) {
  Value::Array values;
  for (const auto& item : items) values.push_back(Value(convert(item)));
  return values;
}

/// Writes compact JSON. NaN and infinities, which JSON lacks, become the strings "NaN", "+Inf" and "-Inf".
std::string to_text(const Value& value);

/// @return an error if the text is not JSON (with line and column), is nested more than 32 levels deep, repeats a key,
/// or has an object with more than 256 keys
Result<Value> parse_json(std::string_view text, const std::string& file);

}  // namespace capstan::conformance
