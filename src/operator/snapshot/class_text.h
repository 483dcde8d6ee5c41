#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capstan::op {

/// Joins parts into one text. Different parts never give the same text.
class ClassText {
 public:
  ClassText& add(std::string_view part) {
    text_ += std::to_string(part.size()) + ":";
    text_ += part;
    return *this;
  }
  ClassText& add(std::int64_t number) { return add(std::to_string(number)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace capstan::op
