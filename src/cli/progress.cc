#include "cli/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"

namespace capstan::cli {

namespace {

/// Interval at which the thread checks whether the line is due.
constexpr Duration kTick = std::chrono::milliseconds(50);

std::string seconds(Duration duration) { return grouped_text(duration / std::chrono::seconds(1)) + " s"; }

}  // namespace

ProgressOutput progress_output() {
  const auto write = [](const std::string& bytes) {
    std::fputs(bytes.c_str(), stderr);
    std::fflush(stderr);
  };
  return {write, errors_are_terminal()};
}

ProgressLine::~ProgressLine() {
  if (shown_ && output_.is_terminal) output_.write("\r\x1b[K");
}

bool ProgressLine::due(Duration elapsed) const {
  if (!shown_) return elapsed >= kFirst;
  return elapsed - last_ >= (output_.is_terminal ? kBetweenOnTerminal : kBetweenInLog);
}

void ProgressLine::show(const std::string& words, Duration elapsed) {
  if (!due(elapsed)) return;
  last_ = elapsed;
  shown_ = true;
  output_.write(output_.is_terminal ? "\r\x1b[K" + words : words + "\n");
}

ProgressReport::ProgressReport(ProgressOutput output)
    : words_([](Duration elapsed) { return "starting · " + seconds(elapsed); }),
      line_(std::move(output)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ProgressReport::note(Words words) {
  const std::lock_guard lock(mutex_);
  words_ = std::move(words);
}

void ProgressReport::note(const experiment::Progress& progress) {
  note([progress](Duration elapsed) { return progress_words(progress, elapsed); });
}

void ProgressReport::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, kTick, [&] { return stop.stop_requested(); })) {
    const Duration elapsed = watch_.elapsed();
    if (line_.due(elapsed)) line_.show(words_(elapsed), elapsed);
  }
}

std::string progress_words(const experiment::Progress& progress, Duration elapsed) {
  if (progress.arrived == 0 && progress.simulated == Duration{} && !progress.stage.empty()) {
    return progress.stage + " · " + seconds(elapsed);
  }
  std::string text = progress.stage.empty() ? "" : progress.stage + " · ";
  text += fmt::format("{} simulated · {}", experiment::clock(progress.at),
                      count_text(progress.arrived, "request", "requests"));
  // The elapsed time includes earlier stages, so the speed of this stage is unknown.
  if (!progress.stage.empty()) return text + " · " + seconds(elapsed);
  if (elapsed.count() > 0) {
    text += fmt::format(" · {} x real time", grouped_text(progress.simulated / elapsed));
  }
  if (progress.part > 0.01 && progress.part <= 1) {
    const double left = std::chrono::duration<double>(elapsed).count() * (1 - progress.part) / progress.part;
    text += fmt::format(" · {} s left", grouped_text(static_cast<std::int64_t>(left)));
  }
  return text;
}

}  // namespace capstan::cli
