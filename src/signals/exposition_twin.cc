#include "signals/exposition_twin.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "signals/exposition_faults.h"
#include "signals/utf8.h"

namespace capstan::signals {
namespace {

/// Position and message of an error in a line.
struct LineError {
  std::size_t column;  ///< counted from 1
  std::string_view message;
};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

/// One line without its line feed, read from left to right. Throws LineError, which is caught in this file.
class Line {
 public:
  Line(std::string text, bool open, bool ended, PlainPage& page)
      : text_(std::move(text)), open_(open), ended_(ended), page_(page) {}

  /// Reads the line. Returns true if it is "# EOF".
  bool read() {
    if (!open_) blanks();
    if (peek() == '#') return hash();
    if (!open_ && done()) return false;
    sample();
    return false;
  }

 private:
  [[noreturn]] void fail_line(std::string_view what) const { throw LineError{at_ + 1, what}; }
  [[noreturn]] void wrong_at(std::size_t place, std::string_view what) const { throw LineError{place + 1, what}; }
  bool done() const { return at_ >= text_.size(); }
  int peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? static_cast<unsigned char>(text_[at_ + ahead]) : -1;
  }
  bool take(char c) {
    if (peek() != static_cast<unsigned char>(c)) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  void text_blanks() {
    if (!open_) blanks();
  }

  std::string metric_name() {
    const std::size_t start = at_;
    while (!done() && (letter(text_[at_]) || text_[at_] == ':' || (at_ > start && digit(text_[at_])))) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string label_name() {
    const std::size_t start = at_;
    while (!done() && (letter(text_[at_]) || (at_ > start && digit(text_[at_])))) ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string quoted() {
    const std::size_t start = ++at_;
    for (; peek() != '"'; ++at_) {
      if (peek() == '\\') ++at_;
      if (done()) fail_line(fault::kQuoteOpen);
    }
    std::string inside = text_.substr(start, at_ - start);
    if (!is_utf8(inside)) wrong_at(start, fault::kNotUtf8);
    ++at_;
    return inside;
  }

  std::string token(const char* stops) {
    const std::size_t start = at_;
    while (!done() && (text_[at_] == '\0' || std::strchr(stops, text_[at_]) == nullptr)) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Parses a number with `strtod`. Accepts only the characters of a decimal number, or one of the words below.
  static std::optional<double> number(const std::string& text) {
    std::string word;
    for (const char c : text) word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    static const std::set<std::string> kWords = {"nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
    const bool decimal = word.find_first_not_of("0123456789.e+-") == std::string::npos;
    if (!kWords.contains(word) && !decimal) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
    if (decimal && std::isinf(value)) return std::nullopt;
    return value;
  }

  double value() {
    const std::size_t start = at_;
    const std::optional<double> read = number(token(open_ ? " " : " \t{"));
    if (!read) wrong_at(start, fault::kValue);
    return *read;
  }

  std::int64_t seconds() {
    const std::size_t start = at_;
    const std::optional<double> read = number(token(" "));
    if (!read || !(std::abs(*read) < 9e15)) wrong_at(start, fault::kSeconds);
    return static_cast<std::int64_t>(*read * 1000);
  }

  PlainPage::Labels labels(std::string* name) {
    PlainPage::Labels found;
    for (++at_;;) {
      text_blanks();
      if (take('}')) return found;
      label(found, name);
      text_blanks();
      if (!take(',') && open_ && peek() != '}') fail_line(fault::kLabelEnd);
    }
  }

  void label(PlainPage::Labels& found, std::string* name) {
    const std::size_t start = at_;
    const bool in_quotes = peek() == '"';
    const std::string key = in_quotes ? quoted() : label_name();
    if (!in_quotes && key.empty()) fail_line(fault::kLabelName);
    text_blanks();
    if (in_quotes && (peek() == ',' || peek() == '}')) {
      if (name == nullptr || !name->empty()) wrong_at(start, fault::kSecondName);
      if (key.empty()) wrong_at(start, fault::kEmptyName);
      *name = key;
      return;
    }
    if (!take('=')) fail_line(fault::kEqual);
    text_blanks();
    if (peek() != '"') fail_line(fault::kLabelValue);
    std::string value = quoted();
    for (const auto& [other, unused] : found) {
      if (other == key) wrong_at(start, fault::kSameLabel);
    }
    if (found.size() == kMaxLabels) wrong_at(start, fault::kManyLabels);
    found.emplace_back(key, std::move(value));
  }

  void sample() {
    PlainPage::Sample sample;
    sample.name = metric_name();
    if (sample.name.empty() && peek() != '{') fail_line(open_ ? fault::kOpenLineStart : fault::kLineStart);
    text_blanks();
    if (peek() == '{') {
      const std::size_t brace = at_;
      sample.labels = labels(&sample.name);
      if (sample.name.empty()) wrong_at(brace, fault::kNoName);
      text_blanks();
    }
    if (open_ && !take(' ')) fail_line(fault::kSpace);
    sample.value = value();
    open_ ? open_end(sample) : text_end(sample);
    page_.samples.push_back(std::move(sample));
  }

  void text_end(PlainPage::Sample& sample) {
    blanks();
    if (done()) return;
    const std::size_t start = at_;
    std::int64_t sum = 0;
    for (; !done() && digit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(sum, std::int64_t{10}, &sum) ||
          __builtin_add_overflow(sum, std::int64_t{text_[at_] - '0'}, &sum)) {
        wrong_at(start, fault::kTimestamp);
      }
    }
    if (at_ == start) fail_line(fault::kTimestamp);
    sample.timestamp_ms = sum;
    blanks();
    if (!done()) fail_line(fault::kLineRest);
  }

  bool exemplar_follows() const { return text_.compare(at_, 4, " # {") == 0; }

  void open_end(PlainPage::Sample& sample) {
    if (!exemplar_follows() && take(' ')) sample.timestamp_ms = seconds();
    if (exemplar_follows()) {
      at_ += 3;
      sample.exemplar_labels = labels(nullptr);
      if (!take(' ')) fail_line(fault::kSpace);
      sample.exemplar_value = value();
      if (take(' ')) sample.exemplar_timestamp_ms = seconds();
    }
    if (!done()) fail_line(fault::kLineRest);
    if (!ended_) fail_line(fault::kNoEof);
  }

  bool hash() {
    const std::size_t start = at_++;
    if (open_ && !take(' ')) wrong_at(start, fault::kOpenLineStart);
    text_blanks();
    const bool has_blank = at_ > start + 1;
    const std::string word = text_.substr(at_, 4);
    const bool separated = peek(4) == ' ' || (!open_ && peek(4) == '\t');
    if (has_blank && separated && (word == "HELP" || word == "TYPE" || (open_ && word == "UNIT"))) {
      at_ += 4;
      metadata(word);
      return false;
    }
    if (!open_) return false;
    if (text_.substr(at_) != "EOF") fail_line(fault::kComment);
    return true;
  }

  void metadata(const std::string& word) {
    open_ ? void(++at_) : blanks();
    const std::string name = peek() == '"' ? quoted() : metric_name();
    if (name.empty() && text_[at_ - 1] != '"') fail_line(fault::kFamilyName);
    if (!take(' ') && (open_ || !take('\t')) && (open_ || !done())) fail_line(fault::kFamilyText);
    if (!ended_ && open_) {
      at_ = text_.size();
      fail_line(fault::kNoEof);
    }
    const std::string text = text_.substr(at_);
    if (!is_utf8(text)) fail_line(fault::kNotUtf8);
    if (word == "TYPE") {
      static const std::set<std::string> kText = {"counter", "gauge", "histogram", "summary", "untyped"};
      static const std::set<std::string> kOpen = {"counter", "gauge", "histogram", "gaugehistogram",
                                                  "summary", "info",  "stateset",  "unknown"};
      if (!(open_ ? kOpen : kText).contains(text)) fail_line(fault::kType);
    }
    if (word == "UNIT" && !text.empty() && !(name.size() > text.size() && name.ends_with("_" + text))) {
      fail_line(fault::kUnit);
    }
    page_.metadata.emplace_back(name, text);
  }

  std::string text_;
  bool open_;
  bool ended_;  ///< a line feed follows the line
  PlainPage& page_;
  std::size_t at_ = 0;
};

}  // namespace

PlainPage read_plainly(std::string_view page, Exposition format, std::string_view source,
                       const ExpositionLimits& limits) {
  const bool open = format == Exposition::open_metrics;
  PlainPage out;
  std::uint32_t number = 0;
  const auto fail_line = [&](std::size_t column, std::string_view what) {
    out.error = Error{.file = std::string(source),
                      .line = number,
                      .column = static_cast<std::uint32_t>(column),
                      .message = std::string(what)};
  };
  if (page.size() > limits.body_bytes) return fail_line(0, fault::kBodyTooLong), out;
  bool eof = false;
  for (std::size_t start = 0; start < page.size();) {
    ++number;
    if (eof) return fail_line(1, fault::kAfterEof), out;
    const std::size_t feed = page.find('\n', start);
    const bool ended = feed != std::string_view::npos;
    const std::size_t end = ended ? feed : page.size();
    const std::size_t samples = out.samples.size();
    const std::size_t metadata = out.metadata.size();
    try {
      eof = Line(std::string(page.substr(start, end - start)), open, ended, out).read();
    } catch (const LineError& found) {
      return fail_line(found.column, found.message), out;
    }
    if (end - start > limits.line_bytes) {
      out.samples.resize(samples);
      out.metadata.resize(metadata);
      return fail_line(limits.line_bytes + 1, fault::kLineTooLong), out;
    }
    start = end + 1;
  }
  ++number;
  if (open && !eof) fail_line(1, fault::kNoEof);
  return out;
}

}  // namespace capstan::signals
