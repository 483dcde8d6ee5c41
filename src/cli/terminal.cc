#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

namespace capstan::cli {

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool errors_are_terminal() { return isatty(STDERR_FILENO) == 1; }

bool wants_color() {
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* term = std::getenv("TERM");
  return output_is_terminal() && !(term != nullptr && std::string_view(term) == "dumb");
}

bool locale_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* locale = std::getenv(variable);
    if (locale == nullptr || *locale == '\0') continue;
    std::string name(locale);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.find("utf-8") != name.npos || name.find("utf8") != name.npos;
  }
  return false;
}

int output_width() {
  constexpr int kPlain = 120;
  winsize size{};
  if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPlain;
  return size.ws_col;
}

int output_height() {
  winsize size{};
  if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row;
}

}  // namespace capstan::cli
