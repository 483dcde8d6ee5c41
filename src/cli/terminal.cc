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

ProgressLine::ProgressLine()
    : enabled_(errors_are_terminal()), start_(std::chrono::steady_clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

double ProgressLine::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressLine::show(const experiment::Progress& progress) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < std::chrono::seconds(1) || now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  shown_ = true;
  std::fputs(("\r\x1b[K" + progress_words(progress, elapsed_seconds())).c_str(), stderr);
  std::fflush(stderr);
}

std::string progress_words(const experiment::Progress& progress, double elapsed_seconds) {
  const double simulated = std::chrono::duration<double>(progress.at.since_start).count();
  std::string text =
      fmt::format("{} simulated · {} requests", experiment::clock(progress.at), experiment::grouped(progress.arrived));
  if (elapsed_seconds > 0) {
    text +=
        fmt::format(" · {} x real time", experiment::grouped(static_cast<std::int64_t>(simulated / elapsed_seconds)));
  }
  if (progress.part > 0.01 && progress.part <= 1) {
    const auto left = static_cast<std::int64_t>(elapsed_seconds * (1 - progress.part) / progress.part);
    text += fmt::format(" · {} s left", experiment::grouped(left));
  }
  return text;
}

}  // namespace capstan::cli
