#include "plan/pods/cold_start.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"

namespace capstan::plan {

ColdStart cold_start_sum(const std::vector<StartPhase>& phases) {
  ColdStart start;
  for (const StartPhase& phase : phases) {
    start.typical += phase.typical;
    start.longest += phase.longest;
    if (phase.step != StartStep::node) {
      start.typical_without_node += phase.typical;
      start.longest_without_node += phase.longest;
    }
    if (phase.typical > start.dominant_typical) {
      start.dominant = phase.step;
      start.dominant_typical = phase.typical;
    }
  }
  return start;
}

std::string_view step_word(StartStep step) {
  switch (step) {
    case StartStep::node:
      return "node";
    case StartStep::image_pull:
      return "image pull";
    case StartStep::weights:
      return "weights";
    case StartStep::engine_start:
      return "engine start";
    case StartStep::warm_up:
      return "warm-up";
  }
  return "";
}

std::string_view slowest_step_words(StartStep step) {
  return step == StartStep::node ? "the launch of a node" : step_word(step);
}

std::string phases_words(const std::vector<StartPhase>& phases) {
  std::string words;
  for (const StartPhase& phase : phases) {
    words +=
        fmt::format("{}{} {}", words.empty() ? "" : " + ", step_word(phase.step), explain::time_text(phase.typical));
  }
  return words;
}

std::int64_t scale_down_window_s(const ColdStart& start) {
  constexpr std::int64_t kMinS = 600, kMaxS = 3600;  // the API allows at most an hour
  return std::clamp<std::int64_t>(2 * std::chrono::ceil<std::chrono::seconds>(start.longest).count(), kMinS, kMaxS);
}

}  // namespace capstan::plan
