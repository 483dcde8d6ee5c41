#pragma once

#include <chrono>

#include "base/time.h"

namespace capstan::cli {

bool output_is_terminal();
bool errors_are_terminal();
/// True if standard output takes colours: it is a terminal, not a dumb one, and NO_COLOR is not set.
bool wants_color();
/// True if the locale of the environment writes characters in UTF-8: LC_ALL, else LC_CTYPE, else LANG says so.
bool locale_is_utf8();
/// Returns the columns of the terminal, 120 where there is none.
int output_width();

/// Measures real time from its construction on.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  Duration elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace capstan::cli
