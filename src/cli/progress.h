#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/time.h"
#include "cli/terminal.h"
#include "experiment/simulation.h"

namespace capstan::cli {

/// Where progress is written: a terminal, on which each text overwrites the last one, or a log of plain lines.
struct ProgressOutput {
  std::function<void(const std::string&)> write;
  bool is_terminal = false;
};

/// Standard error.
ProgressOutput progress_output();

/// Says how far a run is, first after one second. On a terminal it is one line, five times a second at most, which is
/// wiped at the end. In a log it is a line every ten seconds.
class ProgressLine {
 public:
  static constexpr Duration kFirst = std::chrono::seconds(1);
  static constexpr Duration kBetweenOnTerminal = std::chrono::milliseconds(200);
  static constexpr Duration kBetweenInLog = std::chrono::seconds(10);

  explicit ProgressLine(ProgressOutput output) : output_(std::move(output)) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// True if it is time to show something.
  /// @param elapsed  real time since the start of the run
  bool due(Duration elapsed) const;
  void show(const std::string& words, Duration elapsed);

 private:
  ProgressOutput output_;
  Duration last_{};
  bool shown_ = false;
};

/// A progress line with a thread of its own, so that a run which reports nothing for a while is still seen to go on.
class ProgressReport {
 public:
  using Words = std::function<std::string(Duration elapsed)>;

  explicit ProgressReport(ProgressOutput output);
  ~ProgressReport() = default;

  /// Sets the words of the line from now on; any thread may call it.
  void note(Words words);
  void note(const experiment::Progress& progress);

 private:
  void run(const std::stop_token& stop);

  const Stopwatch watch_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  Words words_;
  ProgressLine line_;
  std::jthread thread_;  // last: it ends before what it uses
};

/// Returns the words of the line for a simulation: "00:17:20 simulated · 1,234,567 requests · 2,345 x real time · 12 s
/// left".
std::string progress_words(const experiment::Progress& progress, Duration elapsed);

}  // namespace capstan::cli
