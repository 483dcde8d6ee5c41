#pragma once

#include <chrono>

#include "base/time.h"

namespace capstan::cli {

bool output_is_terminal();
bool errors_are_terminal();
/// Returns true if standard output takes colours: it is a terminal, TERM is not "dumb", and NO_COLOR is empty or not
/// set.
bool wants_color();
/// Returns true if the locale uses UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set decides.
bool locale_is_utf8();
/// Returns the columns of the terminal, or 120 if standard output is no terminal.
int output_width();
/// Returns the lines of the terminal, or 0 if standard output is no terminal.
int output_height();

/// Measures real time from its construction on.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  Duration elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace capstan::cli
