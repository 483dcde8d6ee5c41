#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"
#include "cli/terminal.h"
#include "experiment/run/simulation.h"

namespace capstan::cli {

/// An output for progress: a terminal, on which each text overwrites the previous one, or a log of plain lines.
struct ProgressOutput {
  std::function<void(const std::string&)> write;
  bool is_terminal = false;
};

/// Returns standard error as an output for progress.
ProgressOutput progress_output();

/// Shows the progress of a run, first after one second. On a terminal it is one line, updated at most five times per
/// second and erased at the end. In a log it is a line every ten seconds.
class ProgressLine {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(1);
  static constexpr Duration kBetweenOnTerminal = std::chrono::milliseconds(200);
  static constexpr Duration kBetweenInLog = std::chrono::seconds(10);

  explicit ProgressLine(ProgressOutput output) : output_(std::move(output)) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Returns true if the next text is due.
  /// @param elapsed  real time since the start of the run
  bool due(Duration elapsed) const;
  /// Shows the text if it is due.
  void show(const std::string& words, Duration elapsed);

 private:
  ProgressOutput output_;
  Duration last_{};
  bool shown_ = false;
};

/// A progress line with its own thread, which updates the line also while the run reports nothing.
class ProgressReport {
 public:
  using Words = std::function<std::string(Duration elapsed)>;

  explicit ProgressReport(ProgressOutput output);
  ~ProgressReport() = default;

  /// Sets the function that returns the text of the line. Any thread may call `note`.
  void note(Words words);
  void note(const experiment::Progress& progress);

 private:
  void run(const std::stop_token& stop);

  const Stopwatch watch_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Words words_;
  ProgressLine line_;
  std::jthread thread_;  // declared last, so that it ends before the members that it uses
};

/// Returns the words of the line for a simulation: "00:17:20 simulated · 1,234,567 requests · 2,345 x real time · 12 s
/// left".
std::string progress_words(const experiment::Progress& progress, Duration elapsed);

}  // namespace capstan::cli
