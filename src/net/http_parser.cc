#include "net/http_parser.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/trimmed.h"

namespace capstan::net {
namespace {

constexpr std::size_t kMaxChunkLine = 256;  // bytes of the line with the size and the extensions of a chunk
constexpr std::string_view kEnd = "\r\n\r\n";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns true if the text is a token, as methods and header names have to be (RFC 9110, 5.6.2).
bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') || kMarks.find(c) != kMarks.npos;
  });
}

bool is_value(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

bool is_visible(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c <= 0x20 || c >= 0x7f; });
}

/// Returns true if a comma-separated list has the word.
bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equal_any_case(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

/// Returns the value of the first header with this name, or "".
std::string_view HttpParser::value_of(std::string_view name) const {
  const std::string* value = find_header(request_.headers, name);
  return value == nullptr ? std::string_view() : *value;
}

bool HttpParser::fail(int status, std::string_view reason) {
  state_ = State::failed;
  status_ = status;
  reason_ = reason;
  return false;
}

bool HttpParser::take_continue() { return state_ == State::body && std::exchange(continue_, false); }

HttpRequest HttpParser::take() {
  CAPSTAN_ASSERT(state_ == State::done);
  state_ = State::head;
  chunk_ = Chunk::none;
  continue_ = false;
  head_.clear();
  trailer_bytes_ = 0;
  return std::exchange(request_, {});
}

std::size_t HttpParser::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && (state_ == State::head || state_ == State::body)) {
    const std::string_view rest = bytes.substr(taken);
    taken += state_ == State::head ? feed_head(rest) : feed_body(rest);
  }
  return taken;
}

// --- the head ---

std::size_t HttpParser::feed_head(std::string_view bytes) {
  // A line end after the previous request is ignored (RFC 9112, 2.2).
  if (head_.empty() && (bytes.front() == '\r' || bytes.front() == '\n')) return 1;
  const std::size_t before = head_.size();
  head_.append(bytes.substr(0, limits_.head_bytes + kEnd.size() - before));
  const std::size_t end = head_.find(kEnd, before < kEnd.size() ? 0 : before - kEnd.size());
  if (end == head_.npos) {
    if (head_.size() >= limits_.head_bytes + kEnd.size()) fail(431, "the request's headers are too large");
    return head_.size() - before;
  }
  head_.resize(end);
  parse_head();
  return end + kEnd.size() - before;
}

bool HttpParser::parse_head() {
  std::string_view rest = head_;
  bool first = true;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find("\r\n"), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    if (first ? !parse_request_line(line) : !parse_header(line)) return false;
    first = false;
  }
  return parse_framing();
}

bool HttpParser::parse_request_line(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (space == line.npos || last == space) return fail(400, "the request line does not have three parts");
  const std::string_view method = line.substr(0, space);
  const std::string_view target = line.substr(space + 1, last - space - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method)) return fail(400, "the method is not a token");
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.' ||
      !is_digit(version[7])) {
    return fail(400, "the request line has no HTTP version");
  }
  if (version[5] != '1') return fail(505, "expected HTTP/1.1 or HTTP/1.0");
  if (!is_visible(target) || !(target.starts_with('/') || target == "*")) {
    return fail(400, "the target is not a path, expected one that begins with '/'");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  request_.method = method;
  request_.path = target.substr(0, question);
  request_.query = target.substr(std::min(question + 1, target.size()));
  request_.chunks = version[7] != '0';
  return true;
}

bool HttpParser::parse_header(std::string_view line) {
  if (request_.headers.size() == limits_.headers) return fail(431, "the request has too many headers");
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return fail(400, "a header has no colon");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!is_token(name)) return fail(400, "the name of a header is not a token");
  if (!is_value(value)) return fail(400, "the value of a header has control characters");
  request_.headers.push_back({std::string(name), std::string(value)});
  return true;
}

/// Finds out how long the body is and whether the connection stays open.
bool HttpParser::parse_framing() {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const Header& header : request_.headers) {
    hosts += equal_any_case(header.name, "host") ? 1 : 0;
    lengths += equal_any_case(header.name, "content-length") ? 1 : 0;
    codings += equal_any_case(header.name, "transfer-encoding") ? 1 : 0;
  }
  if (hosts > 1 || (hosts == 0 && request_.chunks)) return fail(400, "expected one Host header");
  const std::string_view connection = value_of("connection");
  request_.keep_alive = request_.chunks ? !list_has(connection, "close") : list_has(connection, "keep-alive");
  if (lengths > 1 || codings > 1 || (lengths > 0 && codings > 0)) {
    return fail(400, "the request has more than one body length");
  }
  const std::string_view expect = value_of("expect");
  if (!expect.empty() && !equal_any_case(expect, "100-continue")) return fail(417, "expected Expect: 100-continue");

  if (codings > 0) {
    if (!request_.chunks || !equal_any_case(value_of("transfer-encoding"), "chunked")) {
      return fail(501, "expected the transfer coding 'chunked'");
    }
    chunk_ = Chunk::size;
    left_ = 0;
  } else {
    const std::string_view length = value_of("content-length");
    if (lengths > 0 && (length.empty() || !std::ranges::all_of(length, is_digit))) {
      return fail(400, "Content-Length is not a number");
    }
    left_ = 0;
    for (const char digit : length) {
      left_ = left_ * 10 + static_cast<std::size_t>(digit - '0');
      if (left_ > limits_.body_bytes) return fail(413, "the body is too large");
    }
  }
  const bool has_body = chunk_ == Chunk::size || left_ > 0;
  continue_ = has_body && !expect.empty() && request_.chunks;
  state_ = has_body ? State::body : State::done;
  return true;
}

// --- the body ---

std::size_t HttpParser::feed_body(std::string_view bytes) {
  if (chunk_ == Chunk::none || chunk_ == Chunk::data) {
    const std::size_t count = std::min(left_, bytes.size());
    request_.body.append(bytes.substr(0, count));
    left_ -= count;
    if (left_ == 0 && chunk_ == Chunk::none) state_ = State::done;
    if (left_ == 0 && chunk_ == Chunk::data) chunk_ = Chunk::data_end;
    return count;
  }
  return feed_line(bytes, chunk_ == Chunk::trailer ? limits_.head_bytes : kMaxChunkLine);
}

/// Takes a line of the chunked coding, including its end.
std::size_t HttpParser::feed_line(std::string_view bytes, std::size_t max_bytes) {
  const std::size_t feed = bytes.find('\n');
  const std::size_t count = feed == bytes.npos ? bytes.size() : feed + 1;
  if (line_.size() + count > max_bytes + 2) {
    fail(chunk_ == Chunk::trailer ? 431 : 400, "a line of the chunked body is too long");
    return count;
  }
  line_.append(bytes.substr(0, count));
  if (feed != bytes.npos) end_line();
  return count;
}

void HttpParser::end_line() {
  const std::string raw = std::exchange(line_, {});
  if (!raw.ends_with("\r\n")) return void(fail(400, "a line of the chunked body does not end with CR LF"));
  const std::string_view line = std::string_view(raw).substr(0, raw.size() - 2);
  switch (chunk_) {
    case Chunk::size:
      if (parse_chunk_size(line)) chunk_ = left_ == 0 ? Chunk::trailer : Chunk::data;
      break;
    case Chunk::data_end:
      if (!line.empty()) fail(400, "a chunk is longer than its size");
      chunk_ = Chunk::size;
      break;
    case Chunk::trailer:
      trailer_bytes_ += raw.size();
      if (trailer_bytes_ > limits_.head_bytes) return void(fail(431, "the request's trailers are too large"));
      if (line.empty()) state_ = State::done;  // trailers are ignored
      break;
    case Chunk::none:
    case Chunk::data:
      CAPSTAN_ASSERT(false);
  }
}

bool HttpParser::parse_chunk_size(std::string_view line) {
  const std::string_view digits = trimmed(line.substr(0, std::min(line.find(';'), line.size())));
  if (digits.empty()) return fail(400, "a chunk has no size");
  left_ = 0;
  for (const char c : digits) {
    const char letter = ascii_lower(c);
    if (!is_digit(c) && !(letter >= 'a' && letter <= 'f'))
      return fail(400, "the size of a chunk is not a hexadecimal number");
    left_ = left_ * 16 + static_cast<std::size_t>(is_digit(c) ? c - '0' : letter - 'a' + 10);
    if (left_ > limits_.body_bytes - request_.body.size()) return fail(413, "the body is too large");
  }
  return true;
}

}  // namespace capstan::net
