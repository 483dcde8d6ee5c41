#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "experiment/simulation.h"

namespace capstan::cli {

bool output_is_terminal();
bool errors_are_terminal();
/// Colours on standard output: a terminal, and no NO_COLOR, and not a dumb one.
bool wants_color();
/// Columns of the terminal, 120 where there is none.
int output_width();

/// Real time since it was made.
class Stopwatch {
 public:
  Stopwatch() : start_(std::chrono::steady_clock::now()) {}
  Duration elapsed() const { return std::chrono::steady_clock::now() - start_; }

 private:
  std::chrono::steady_clock::time_point start_;
};

/// One line that says how far a simulation is: simulated time, speed, time left. It appears after a second, five times
/// a second at most, where the errors go to a terminal, and is wiped at the end.
class ProgressLine {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(1);
  static constexpr Duration kBetween = std::chrono::milliseconds(200);
  using Write = std::function<void(const std::string&)>;

  /// `write` gets the bytes; without one it says nothing.
  explicit ProgressLine(Write write) : write_(std::move(write)) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `elapsed` is real time since the start of the run.
  void show(const experiment::Progress& progress, Duration elapsed);

 private:
  Write write_;
  Duration last_{};
  bool shown_ = false;
};

/// Writes to standard error where that is a terminal; none else.
ProgressLine::Write progress_output();

/// What the line says: "00:17:20 simulated · 1,234,567 requests · 2,345 x real time · 12 s left".
std::string progress_words(const experiment::Progress& progress, Duration elapsed);

}  // namespace capstan::cli
