#include "emulator/prompt.h"

#include "sim/serving/request.h"

namespace capstan::emulator {
namespace {

constexpr std::size_t kTokenCharacters = 4;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

void PromptBuilder::add_token(std::uint64_t id) {
  hash_.add(id);
  if (++prompt_.tokens % sim::kPrefixGroupTokens == 0) prompt_.prefix_hashes.push_back(hash_.value());
}

void PromptBuilder::add_text(std::string_view utf8) {
  std::size_t begin = 0;
  std::size_t characters = 0;
  const auto end_token = [&](std::size_t end) {
    if (characters > 0) add_token(hash_text(utf8.substr(begin, end - begin)));
    begin = end;
    characters = 0;
  };
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    if (is_utf8_continuation(utf8[i])) continue;
    if (is_space(utf8[i]) || characters == kTokenCharacters) end_token(i);
    if (is_space(utf8[i])) {
      begin = i + 1;
    } else {
      ++characters;
    }
  }
  end_token(utf8.size());
}

void PromptBuilder::add_template(std::int64_t tokens) {
  for (std::int64_t i = 0; i < tokens; ++i) add_token(static_cast<std::uint64_t>(i));
}

}  // namespace capstan::emulator
