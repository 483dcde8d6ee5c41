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
    if (count > 0) text += (text.empty() ? "broken invariants: " : ", ") + counted(count, one, many);
  };
  const InvariantFigures& broken = result.invariants;
  add(broken.partial_gang, "gang partly placed", "gangs partly placed");
  add(broken.work_cut, "request cut by a decision", "requests cut by decisions");
  add(broken.jobs_restarted, "job restarted by a decision", "jobs restarted by decisions");
  add(broken.scale_downs_without_data, "scale-down without data", "scale-downs without data");
  add(broken.limit_exceeded, "limit exceeded", "limits exceeded");
  add(broken.not_repeatable, "decision not repeatable", "decisions not repeatable");
  add(broken.expired_group_holds, "node group kept longer than its hold time",
      "node groups kept longer than their hold time");
  add(broken.unobservable_values, "value read that no cluster could report",
      "values read that no cluster could report");
  add(broken.not_conserved, "total that does not add up", "totals that do not add up");
  add(broken.unsettled, "scaling action under a constant load", "scaling actions under a constant load");
  return text;
}

}  // namespace capstan::experiment
