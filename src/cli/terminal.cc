#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "experiment/words.h"

namespace capstan::cli {

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool errors_are_terminal() { return isatty(STDERR_FILENO) == 1; }

bool wants_color() {
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* term = std::getenv("TERM");
  return output_is_terminal() && !(term != nullptr && std::string_view(term) == "dumb");
}

int output_width() {
  constexpr int kPlain = 120;
  winsize size{};
  if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPlain;
  return size.ws_col;
}

ProgressLine::Write progress_output() {
  if (!errors_are_terminal()) return {};
  return [](const std::string& bytes) {
    std::fputs(bytes.c_str(), stderr);
    std::fflush(stderr);
  };
}

ProgressLine::~ProgressLine() {
  if (shown_) write_("\r\x1b[K");
}

void ProgressLine::show(const experiment::Progress& progress, Duration elapsed) {
  if (!write_ || elapsed < kFirst || (shown_ && elapsed - last_ < kBetween)) return;
  last_ = elapsed;
  shown_ = true;
  write_("\r\x1b[K" + progress_words(progress, elapsed));
}

std::string progress_words(const experiment::Progress& progress, Duration elapsed) {
  std::string text = fmt::format("{} simulated · {}", experiment::clock(progress.at),
                                 experiment::counted(progress.arrived, "request", "requests"));
  if (elapsed.count() > 0) {
    text += fmt::format(" · {} x real time", experiment::grouped(progress.simulated / elapsed));
  }
  if (progress.part > 0.01 && progress.part <= 1) {
    const double left = std::chrono::duration<double>(elapsed).count() * (1 - progress.part) / progress.part;
    text += fmt::format(" · {} s left", experiment::grouped(static_cast<std::int64_t>(left)));
  }
  return text;
}

}  // namespace capstan::cli
