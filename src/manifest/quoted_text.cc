#include "manifest/quoted_text.h"

#include <algorithm>

namespace capstan::manifest {

std::string single_quoted_text(std::string_view inside) {
  constexpr std::string_view kBlanks = " \t\r";
  std::string words;
  for (std::size_t line = 0, breaks = 0;; ++breaks) {
    const std::size_t end = std::min(inside.find('\n', line), inside.size());
    const bool last = end == inside.size();
    std::string_view part = inside.substr(line, end - line);
    if (line > 0) part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
    if (!last) part = part.substr(0, part.find_last_not_of(kBlanks) + 1);
    if (!part.empty() || last) {
      if (breaks == 1) words += ' ';
      if (breaks > 1) words.append(breaks - 1, '\n');
      breaks = 0;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      words += part[i];
      if (part[i] == '\'') ++i;
    }
    if (last) return words;
    line = end + 1;
  }
}

}  // namespace capstan::manifest
