#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "experiment/simulation.h"

namespace capstan::cli {

bool output_is_terminal();
bool errors_are_terminal();
/// Colours on standard output: a terminal, and no NO_COLOR, and not a dumb one.
bool wants_color();
/// Columns of the terminal, 120 where there is none.
int output_width();

/// One line on standard error that says how far a simulation is: simulated time, speed, time left. It appears after a
/// second, on a terminal only, and is wiped at the end.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const experiment::Progress& progress);
  double elapsed_seconds() const;

 private:
  const bool enabled_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
  bool shown_ = false;
};

/// What the line says: "00:17:20 simulated · 1,234,567 requests · 2,345 x real time · 12 s left".
std::string progress_words(const experiment::Progress& progress, double elapsed_seconds);

}  // namespace capstan::cli
