#include "conformance/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

namespace capstan::conformance {
namespace {

constexpr std::size_t kMaxLevels = 32;

/// Builds a Value from the parser's events. Rejects repeated keys, many keys and deep nesting, which the parser
/// accepts.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool null() override { return add(Value()); }
  bool boolean(bool value) override { return add(Value(value)); }
  bool number_integer(std::int64_t value) override { return add(Value(value)); }
  bool number_unsigned(std::uint64_t value) override {
    return add(std::in_range<std::int64_t>(value) ? Value(value) : Value(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string&) override { return add(Value(value)); }
  bool string(std::string& value) override { return add(Value(std::move(value))); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value(Value::Object())); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Value(Value::Array())); }
  bool end_array() override { return close(); }
  bool key(std::string& key) override {
    const Value::Object& members = *open_.back().object();
    // With the few keys of a case a linear search is faster than a set. A file with many keys is not a case file.
    if (members.size() >= kMaxKeys) return fail("an object has more than 256 keys");
    if (std::ranges::find(members, key, &Member::key) != members.end()) {
      return fail("key \"" + key.substr(0, 60) + "\" is repeated");
    }
    keys_.back() = std::move(key);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    error_ = Error{ErrorKind::input, file_, 0, 0, "is not JSON, expected a case file"};
    place(position == 0 ? 0 : position - 1);
    return false;
  }

  Result<Value> take() {
    if (error_) return std::unexpected(std::move(*error_));
    return std::move(root_);
  }

 private:
  static constexpr std::size_t kMaxKeys = 256;

  bool add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Value::Array* items = open_.back().array()) {
      items->push_back(std::move(value));
    } else {
      open_.back().object()->push_back({std::move(keys_.back()), std::move(value)});
    }
    return true;
  }
  bool open(Value value) {
    if (open_.size() == kMaxLevels) return fail("nested more than 32 levels deep");
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Value value = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(value));
  }
  bool fail(std::string what) {
    error_ = Error{ErrorKind::input, file_, 0, 0, std::move(what) + ", expected a case file"};
    return false;
  }
  void place(std::size_t offset) {
    const std::string_view before = text_.substr(0, std::min(offset, text_.size()));
    error_->line = static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1);
    const std::size_t newline = before.rfind('\n');
    error_->column = static_cast<std::uint32_t>(before.size() - (newline == before.npos ? 0 : newline + 1) + 1);
  }

  std::string_view text_;
  const std::string& file_;
  Value root_;
  std::vector<Value> open_;
  std::vector<std::string> keys_;  ///< for each open object or array, the key of the next value; empty in an array
  std::optional<Error> error_;
};

std::string real_text(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"+Inf\"" : "\"-Inf\"";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

void append(std::string& out, const Value& value) {
  if (const bool* boolean = value.boolean()) {
    out += *boolean ? "true" : "false";
  } else if (const std::int64_t* integer = value.integer()) {
    out += std::to_string(*integer);
  } else if (const double* real = value.real()) {
    out += real_text(*real);
  } else if (const std::string* text = value.text()) {
    out += nlohmann::json(*text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } else if (const Value::Array* items = value.array()) {
    for (const Value& item : *items) append(out += &item == items->data() ? "[" : ", ", item);
    out += items->empty() ? "[]" : "]";
  } else if (const Value::Object* members = value.object()) {
    for (const Member& member : *members) {
      append(out += &member == members->data() ? "{" : ", ", Value(member.key));
      append(out += ": ", member.value);
    }
    out += members->empty() ? "{}" : "}";
  } else {
    out += "null";
  }
}

}  // namespace

const Value& Value::operator[](std::string_view key) const {
  static const Value null;
  const Object* members = object();
  if (members == nullptr) return null;
  const auto found = std::ranges::find(*members, key, &Member::key);
  return found == members->end() ? null : found->value;
}

Value object(std::initializer_list<Member> members) { return Value(Value::Object(members)); }

std::string to_text(const Value& value) {
  std::string out;
  append(out, value);
  return out;
}

Result<Value> parse_json(std::string_view text, const std::string& file) {
  Builder builder(text, file);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace capstan::conformance
