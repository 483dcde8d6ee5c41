#include "experiment/text/layout.h"

#include <algorithm>

namespace capstan::experiment {

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) == 0x80) continue;
    const bool combining = (byte == 0xcc || byte == 0xcd) && i + 1 < text.size();
    count += combining ? 0 : 1;
  }
  return count;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (columns(text) <= width) return text;
  std::size_t cut = 0;
  for (std::size_t shown = 0; cut < text.size(); ++cut) {
    if ((static_cast<unsigned char>(text[cut]) & 0xc0) != 0x80 && ++shown == width) break;
  }
  return text.substr(0, cut) + "…";
}

std::string shortened_name(const std::string& name, std::size_t width) {
  const std::size_t all = columns(name);
  if (all <= width || width < 3) return shortened(name, width);
  const std::size_t tail_columns = (width - 1) / 2;
  std::size_t tail = name.size();
  for (std::size_t kept = 0; kept < tail_columns; ++kept) {
    do --tail;
    while ((static_cast<unsigned char>(name[tail]) & 0xc0) == 0x80);
  }
  return shortened(name, width - tail_columns) + name.substr(tail);
}

std::string pad_right(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have >= width ? text : text + std::string(width - have, ' ');
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t have = columns(text);
  return have >= width ? text : std::string(width - have, ' ') + text;
}

std::string wrapped(const std::string& label, std::string_view text, std::size_t width) {
  constexpr std::size_t kMinColumns = 40;  // a narrower terminal breaks the lines itself
  const std::size_t room = std::max(width, kMinColumns);
  const std::string indent(columns(label), ' ');
  std::string out;
  std::string line = label;
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t space = text.find(' ');
    const std::string word(text.substr(0, space));
    text.remove_prefix(space == text.npos ? text.size() : space + 1);
    if (!first && columns(line) + 1 + columns(word) > room) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
  }
  return out + line + "\n";
}

std::string sentence_lines(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i + 2 < out.size(); ++i) {
    const char next = out[i + 2];
    const bool is_start = (next >= 'A' && next <= 'Z') || (next >= '0' && next <= '9');
    if (out[i] == '.' && out[i + 1] == ' ' && is_start) out[i + 1] = '\n';
  }
  return out;
}

std::string wrapped_lines(std::string_view text, std::size_t width) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += wrapped("", text.substr(0, end), width);
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace capstan::experiment
