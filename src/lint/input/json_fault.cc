#include "lint/input/json_fault.h"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <spanstream>

namespace capstan::lint {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

/// Rewrites a message of the parser, "... syntax error while parsing X - unexpected A; expected B; last read: C".
std::string message_of(std::string_view text) {
  constexpr std::string_view kUnexpected = "unexpected ";
  text = text.substr(0, text.find("; last read"));
  if (const std::size_t dash = text.find(" - "); dash != text.npos) text.remove_prefix(dash + 3);
  if (!text.starts_with(kUnexpected)) return "is not JSON: " + std::string(text);
  std::string message = "is not JSON: found " + std::string(text.substr(kUnexpected.size()));
  if (const std::size_t expected = message.find("; expected"); expected != message.npos) message[expected] = ',';
  return message;
}

/// Returns the offset of a token's first byte. The parser reports the offset of the last byte.
std::size_t token_begin(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"' && at > 0) {
    const std::size_t open = text.rfind('"', at - 1);
    return open == text.npos ? at : open;
  }
  const auto is_of_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.';
  };
  while (at > 0 && is_of_word(text[at]) && is_of_word(text[at - 1])) --at;
  return at;
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

/// Returns the position after the string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// Returns the end of a comment that begins at `at`; returns `at` if there is none.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (!text.substr(at).starts_with("/*")) return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == text.npos ? text.size() : end + 2;
}

}  // namespace

std::optional<JsonFault> json_fault(std::string_view text) {
  std::ispanstream stream{std::span<const char>(text)};
  std::size_t begin = 0;
  try {
    while (begin == 0 || text.find_first_not_of(kSpaces, begin) != text.npos) {
      nlohmann::json value;
      stream >> value;
      if (stream.eof()) break;
      begin = static_cast<std::size_t>(stream.tellg());
    }
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t at = begin + (error.byte == 0 ? 0 : error.byte - 1);
    return JsonFault{static_cast<std::uint32_t>(token_begin(text, at)), message_of(error.what())};
  }
  return std::nullopt;
}

std::string without_comments(std::string_view text) {
  std::string out(text);
  std::size_t comma = text.npos;  // last comma with only spaces after it so far
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = end_of_comment(text, at); end != at) {
      blank(out, at, end);
      at = end;
      continue;
    }
    const char c = text[at];
    if ((c == '}' || c == ']') && comma != text.npos) out[comma] = ' ';
    if (kSpaces.find(c) == kSpaces.npos) comma = c == ',' ? at : text.npos;
    at = c == '"' ? end_of_string(text, at) : at + 1;
  }
  return out;
}

}  // namespace capstan::lint
