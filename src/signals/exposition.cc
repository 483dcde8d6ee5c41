#include "signals/exposition.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/assert.h"
#include "signals/exposition_faults.h"
#include "signals/number.h"
#include "signals/utf8.h"

namespace capstan::signals {
namespace {

constexpr std::string_view kTextTypes[] = {"counter", "gauge", "histogram", "summary", "untyped"};
constexpr std::string_view kOpenTypes[] = {"counter", "gauge", "histogram", "gaugehistogram",
                                           "summary", "info",  "stateset",  "unknown"};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
bool starts_name(char c) { return PortableScan::in_label_name(static_cast<unsigned char>(c)) && !is_digit(c); }
std::string_view between(const char* from, const char* to) { return {from, static_cast<std::size_t>(to - from)}; }

}  // namespace

Exposition exposition_of(std::string_view content_type) {
  return content_type.starts_with("application/openmetrics-text") ? Exposition::open_metrics : Exposition::text;
}

std::optional<std::string_view> Sample::label(std::string_view label_name) const {
  for (const Label& label : labels) {
    if (label.name == label_name) return label.value;
  }
  return std::nullopt;
}

std::string unescape(std::string_view written) {
  std::string text;
  text.reserve(written.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char next = written[i] == '\\' && i + 1 < written.size() ? written[i + 1] : '\0';
    if (next == '\\' || next == '"' || next == 'n') {
      text += next == 'n' ? '\n' : next;
      ++i;
    } else {
      text += written[i];
    }
  }
  return text;
}

template <typename Scan>
BasicExpositionReader<Scan>::BasicExpositionReader(std::string_view page, Exposition format, std::string_view source,
                                                   const ExpositionLimits& limits)
    : at_(page.data()),
      end_(page.data() + page.size()),
      line_start_(page.data()),
      open_(format == Exposition::open_metrics),
      ascii_(true),
      line_bytes_max_(limits.line_bytes),
      source_(source) {
  if (page.size() > limits.body_bytes) {
    fail(nullptr, fault::kBodyTooLong);
  } else {
    ascii_ = Scan::is_ascii(at_, end_);
  }
}

template <typename Scan>
Error BasicExpositionReader<Scan>::error() const {
  CAPSTAN_ASSERT(!fault_.empty());
  return {.file = std::string(source_), .line = line_, .column = fault_column_, .message = std::string(fault_)};
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::fail(const char* at, std::string_view what) {
  fault_ = what;
  fault_column_ = at == nullptr ? 0 : static_cast<std::uint32_t>(at - line_start_ + 1);
  return nullptr;
}

template <typename Scan>
auto BasicExpositionReader<Scan>::fail_entry(const char* at, std::string_view what) -> Entry {
  fail(at, what);
  return Entry::error;
}

/// Ends the line at its line feed or at the end of the page. Returns false if the line was too long.
template <typename Scan>
bool BasicExpositionReader<Scan>::end_line(const char* at) {
  if (static_cast<std::size_t>(at - line_start_) > line_bytes_max_) {
    fail(line_start_ + line_bytes_max_, fault::kLineTooLong);
    return false;
  }
  at_ = at == end_ ? end_ : at + 1;
  return true;
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::skip_blanks(const char* at) const {
  while (at != end_ && is_blank(*at)) ++at;
  return at;
}

template <typename Scan>
auto BasicExpositionReader<Scan>::next_sample() -> Entry {
  Entry entry = next();
  while (entry == Entry::metadata) entry = next();
  return entry;
}

template <typename Scan>
auto BasicExpositionReader<Scan>::next() -> Entry {
  if (!fault_.empty()) return Entry::error;
  while (!done_ && at_ != end_) {
    ++line_;
    line_start_ = at_;
    const char* at = open_ ? at_ : skip_blanks(at_);
    if (at != end_ && *at == '#') {
      bool is_metadata = false;
      at = read_hash(at, is_metadata);
      if (at == nullptr || !end_line(at)) return Entry::error;
      if (is_metadata) return Entry::metadata;
    } else if (!open_ && at_line_end(at)) {
      if (!end_line(at)) return Entry::error;
    } else {
      at = read_sample(at);
      if (at == nullptr || !end_line(at)) return Entry::error;
      return Entry::sample;
    }
  }
  if (open_ && !done_) {
    ++line_;
    line_start_ = at_;
    return fail_entry(at_, fault::kNoEof);
  }
  if (open_ && at_ != end_) {
    ++line_;
    line_start_ = at_;
    return fail_entry(at_, fault::kAfterEof);
  }
  return Entry::end;
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::read_sample(const char* at) {
  sample_.name = {};
  sample_.timestamp_ms.reset();
  sample_.exemplar.reset();
  sample_.has_escapes = false;
  labels_.count = 0;
  if (starts_name(*at) || *at == ':') {
    const char* const name = at;
    at = Scan::metric_name_end(at, end_);
    sample_.name = between(name, at);
  } else if (*at != '{') {
    return fail(at, open_ ? fault::kOpenLineStart : fault::kLineStart);
  }
  if (!open_) at = skip_blanks(at);
  if (at != end_ && *at == '{') {
    const char* const brace = at;
    at = read_labels(at + 1, labels_, sample_.name.empty());
    if (at == nullptr) return nullptr;
    if (sample_.name.empty()) return fail(brace, fault::kNoName);
    if (!open_) at = skip_blanks(at);
  }
  sample_.labels = {labels_.labels.data(), labels_.count};
  if (open_) {
    if (at == end_ || *at != ' ') return fail(at, fault::kSpace);
    ++at;
  }
  at = read_value(at, sample_.value);
  if (at == nullptr) return nullptr;
  return open_ ? read_open_end(at) : read_text_end(at);
}

/// Reads labels up to and including the closing brace.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_labels(const char* at, LabelList& out, bool may_hold_name) {
  for (;;) {
    if (!open_) at = skip_blanks(at);
    if (at != end_ && *at == '}') return at + 1;
    at = read_label(at, out, may_hold_name);
    if (at == nullptr) return nullptr;
    if (at != end_ && *at == ',') {
      ++at;
    } else if (open_ && (at == end_ || *at != '}')) {
      return fail(at, fault::kLabelEnd);  // only the text format allows labels without a comma between them
    }
  }
}

/// Reads one `name="value"` or the quoted metric name, and the blanks after it.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_label(const char* at, LabelList& out, bool may_hold_name) {
  const char* const start = at;
  std::string_view name;
  if (at != end_ && *at == '"') {
    at = read_quoted(at + 1, name);
    if (at == nullptr) return nullptr;
  } else {
    if (at == end_ || !starts_name(*at)) return fail(at, fault::kLabelName);
    at = Scan::label_name_end(at, end_);
    name = between(start, at);
  }
  if (!open_) at = skip_blanks(at);
  if (*start == '"' && at != end_ && (*at == ',' || *at == '}')) {
    if (!may_hold_name || !sample_.name.empty()) return fail(start, fault::kSecondName);
    if (name.empty()) return fail(start, fault::kEmptyName);
    sample_.name = name;
    return at;
  }
  if (at == end_ || *at != '=') return fail(at, fault::kEqual);
  ++at;
  if (!open_) at = skip_blanks(at);
  if (at == end_ || *at != '"') return fail(at, fault::kLabelValue);
  std::string_view value;
  at = read_quoted(at + 1, value);
  if (at == nullptr) return nullptr;
  for (std::size_t i = 0; i < out.count; ++i) {
    if (out.labels[i].name == name) return fail(start, fault::kSameLabel);
  }
  if (out.count == kMaxLabels) return fail(start, fault::kManyLabels);
  out.labels[out.count++] = {name, value};
  return open_ ? at : skip_blanks(at);
}

/// Reads the text after an opening quote to the closing quote, which is the next one that no backslash escapes.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_quoted(const char* at, std::string_view& inside) {
  const char* const start = at;
  for (;;) {
    at = Scan::quoted_end(at, end_);
    if (at == end_ || *at == '\n') return fail(at, fault::kQuoteOpen);
    if (*at == '"') break;
    sample_.has_escapes = true;
    ++at;  // after the backslash; the character that it escapes must be on the same line
    if (at_line_end(at)) return fail(at, fault::kQuoteOpen);
    ++at;
  }
  inside = between(start, at);
  if (!ascii_ && !is_utf8(inside)) return fail(start, fault::kNotUtf8);
  return at + 1;
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::read_value(const char* at, double& value) {
  const auto stops = [this](const char* p) {
    return p == end_ || *p == '\n' || *p == ' ' || (!open_ && (*p == '\t' || *p == '{'));
  };
  const char* const simple = scan_simple_number(at, end_, value);
  if (simple != nullptr && stops(simple)) return simple;
  const char* const start = at;
  while (!stops(at)) ++at;
  const std::optional<double> parsed = parse_number(between(start, at));
  if (!parsed) return fail(start, fault::kValue);
  value = *parsed;
  return at;
}

/// Reads the rest of a sample's line in the text format: an optional timestamp in whole milliseconds.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_text_end(const char* at) {
  if (at_line_end(at)) return at;
  at = skip_blanks(at);
  if (at_line_end(at)) return at;
  if (!is_digit(*at)) return fail(at, fault::kTimestamp);
  std::int64_t timestamp = 0;
  const auto [number_end, code] = std::from_chars(at, end_, timestamp);
  if (code != std::errc{}) return fail(at, fault::kTimestamp);
  sample_.timestamp_ms = timestamp;
  at = skip_blanks(number_end);
  return at_line_end(at) ? at : fail(at, fault::kLineRest);
}

/// Reads the rest of a sample's line in OpenMetrics: an optional timestamp in seconds and an optional exemplar.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_open_end(const char* at) {
  const auto exemplar_follows = [this](const char* p) { return end_ - p >= 4 && between(p, p + 4) == " # {"; };
  if (at != end_ && *at == ' ' && !exemplar_follows(at)) {
    at = read_seconds(at + 1, sample_.timestamp_ms);
    if (at == nullptr) return nullptr;
  }
  if (exemplar_follows(at)) {
    at = read_exemplar(at + 4);
    if (at == nullptr) return nullptr;
  }
  if (at == end_) return fail(at, fault::kNoEof);
  return *at == '\n' ? at : fail(at, fault::kLineRest);
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::read_exemplar(const char* at) {
  exemplar_labels_.count = 0;
  at = read_labels(at, exemplar_labels_, false);
  if (at == nullptr) return nullptr;
  if (at == end_ || *at != ' ') return fail(at, fault::kSpace);
  Exemplar exemplar;
  at = read_value(at + 1, exemplar.value);
  if (at == nullptr) return nullptr;
  if (at != end_ && *at == ' ') {
    at = read_seconds(at + 1, exemplar.timestamp_ms);
    if (at == nullptr) return nullptr;
  }
  exemplar.labels = {exemplar_labels_.labels.data(), exemplar_labels_.count};
  sample_.exemplar = exemplar;
  return at;
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::read_seconds(const char* at, std::optional<std::int64_t>& timestamp_ms) {
  const char* const start = at;
  while (!at_line_end(at) && *at != ' ') ++at;
  const std::optional<double> seconds = parse_number(between(start, at));
  if (!seconds || !(std::abs(*seconds) < 9e15)) return fail(start, fault::kSeconds);
  timestamp_ms = static_cast<std::int64_t>(*seconds * 1000);
  return at;
}

/// Reads a line that starts with '#': metadata, "# EOF", or a comment. Only the text format has comments.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_hash(const char* at, bool& is_metadata) {
  const char* const hash = at++;
  if (open_) {
    if (at == end_ || *at != ' ') return fail(hash, fault::kOpenLineStart);
    ++at;
  } else {
    at = skip_blanks(at);
  }
  const bool has_blank = at != hash + 1;
  const auto is_keyword = [&](std::string_view name) {
    const std::size_t bytes_left = static_cast<std::size_t>(end_ - at);
    return has_blank && bytes_left > name.size() && between(at, at + name.size()) == name &&
           (at[name.size()] == ' ' || (!open_ && at[name.size()] == '\t'));
  };
  if (is_keyword("HELP") || is_keyword("TYPE") || (open_ && is_keyword("UNIT"))) {
    is_metadata = true;
    return read_metadata(at + 4, *at == 'H'   ? Metadata::Kind::help
                                 : *at == 'T' ? Metadata::Kind::type
                                              : Metadata::Kind::unit);
  }
  if (!open_) return Scan::line_end(at, end_);
  if (end_ - at < 3 || between(at, at + 3) != "EOF" || !at_line_end(at + 3)) return fail(at, fault::kComment);
  done_ = true;
  return at + 3;
}

/// Reads the rest of a metadata line after its keyword: blanks, name of the family, one separator, text.
template <typename Scan>
const char* BasicExpositionReader<Scan>::read_metadata(const char* at, Metadata::Kind kind) {
  metadata_.kind = kind;
  at = open_ ? at + 1 : skip_blanks(at);
  const char* const name = at;
  if (at != end_ && *at == '"') {
    at = read_quoted(at + 1, metadata_.name);
    if (at == nullptr) return nullptr;
  } else {
    if (at == end_ || !(starts_name(*at) || *at == ':')) return fail(at, fault::kFamilyName);
    at = Scan::metric_name_end(at, end_);
    metadata_.name = between(name, at);
  }
  const bool separated = at != end_ && (*at == ' ' || (!open_ && *at == '\t'));
  if (!separated && (open_ || !at_line_end(at))) return fail(at, fault::kFamilyText);
  const char* const text = separated ? at + 1 : at;
  at = Scan::line_end(text, end_);
  if (open_ && at == end_) return fail(at, fault::kNoEof);
  metadata_.text = between(text, at);
  if (!ascii_ && !is_utf8(metadata_.text)) return fail(text, fault::kNotUtf8);
  if (kind == Metadata::Kind::type) return check_type(at);
  if (kind == Metadata::Kind::unit) return check_unit(at);
  return at;
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::check_type(const char* at) {
  const bool known = open_ ? std::ranges::find(kOpenTypes, metadata_.text) != std::end(kOpenTypes)
                           : std::ranges::find(kTextTypes, metadata_.text) != std::end(kTextTypes);
  return known ? at : fail(metadata_.text.data(), fault::kType);
}

template <typename Scan>
const char* BasicExpositionReader<Scan>::check_unit(const char* at) {
  const std::string_view unit = metadata_.text;
  const std::string_view name = metadata_.name;
  const bool ends_name =
      name.size() > unit.size() && name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_';
  return unit.empty() || ends_name ? at : fail(unit.data(), fault::kUnit);
}

template class BasicExpositionReader<SimdScan>;
template class BasicExpositionReader<PortableScan>;

}  // namespace capstan::signals
