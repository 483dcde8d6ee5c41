#include "experiment/report/result_words.h"

#include "experiment/text/words.h"

namespace capstan::experiment {

std::int64_t idle_gpu_minutes(const RunResult& result) {
  GpuNanoseconds idle = 0;
  for (const GpuState state : {GpuState::idle, GpuState::sleeping, GpuState::held, GpuState::unallocated}) {
    idle += result.gpu_ns[static_cast<std::size_t>(state)];
  }
  constexpr std::int64_t kMinute = 60'000'000'000;
  return static_cast<std::int64_t>((idle + kMinute / 2) / kMinute);
}

std::string broken_words(const RunResult& result) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* one, const char* many) {
    if (count > 0) text += (text.empty() ? "broke: " : ", ") + counted(count, one, many);
  };
  const InvariantFigures& broken = result.invariants;
  add(broken.partial_gang, "gang partly placed", "gangs partly placed");
  add(broken.work_cut, "request cut by a decision", "requests cut by decisions");
  add(broken.lowered_blind, "scale-down without data", "scale-downs without data");
  add(broken.limit_exceeded, "limit exceeded", "limits exceeded");
  add(broken.not_repeatable, "decision not repeatable", "decisions not repeatable");
  add(broken.group_overheld, "group held too long", "groups held too long");
  add(broken.oracle, "row that production cannot know", "rows that production cannot know");
  add(broken.not_conserved, "balance that does not close", "balances that do not close");
  add(broken.unsettled, "move of a fleet that had settled", "moves of a fleet that had settled");
  return text;
}

}  // namespace capstan::experiment
