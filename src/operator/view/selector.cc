#include "operator/view/selector.h"

#include <cstdint>
#include <string>
#include <utility>

namespace capstan::op {
namespace {

using signals::Matcher;

constexpr std::size_t kMaxMatchers = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Matcher>> all() {
    std::vector<Matcher> matchers;
    blanks();
    while (at_ < text_.size()) {
      Matcher matcher;
      if (!label(matcher) || !op(matcher) || !value(matcher)) return wrong();
      matchers.push_back(std::move(matcher));
      blanks();
      if (at_ == text_.size()) break;
      if (text_[at_] != ',' || matchers.size() == kMaxMatchers) return expected("',' and another matcher, or the end");
      ++at_;
      blanks();
    }
    return matchers;
  }

 private:
  bool label(Matcher& out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > begin && is_digit(text_[at_])))) ++at_;
    out.label = text_.substr(begin, at_ - begin);
    blanks();
    return !out.label.empty() || fail("the name of a label");
  }
  bool op(Matcher& out) {
    constexpr std::pair<std::string_view, Matcher::Op> kOps[] = {{"=~", Matcher::Op::matches},
                                                                 {"!~", Matcher::Op::not_matches},
                                                                 {"!=", Matcher::Op::not_equal},
                                                                 {"=", Matcher::Op::equal}};
    for (const auto& [sign, which] : kOps) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      out.op = which;
      at_ += sign.size();
      blanks();
      return true;
    }
    return fail("=, !=, =~ or !~");
  }
  bool value(Matcher& out) {
    if (at_ == text_.size() || text_[at_] != '"') return fail("a value in double quotes");
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') return ++at_, true;
      const bool escaped = text_[at_] == '\\';
      if (escaped && ++at_ == text_.size()) break;
      out.value += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
    }
    return fail("a double quote at the end of the value");
  }
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool fail(const char* what) {
    expected_ = what;
    return false;
  }
  std::unexpected<Error> expected(const char* what) {
    expected_ = what;
    return wrong();
  }
  std::unexpected<Error> wrong() const {
    const std::string found = at_ < text_.size() ? "found '" + std::string(1, text_[at_]) + "'" : "it ends";
    Error error;
    error.line = 1;
    error.column = static_cast<std::uint32_t>(at_ + 1);
    error.message = found + ", expected " + expected_;
    return std::unexpected(std::move(error));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* expected_ = "";
};

}  // namespace

Result<std::vector<Matcher>> read_matchers(std::string_view text) { return Reader(text).all(); }

}  // namespace capstan::op
