#include "cli/replay.h"

#include "archive/replay.h"
#include "cli/terminal.h"
#include "serve/replay_report.h"

namespace capstan::cli {
namespace {

/// Prints the arithmetic of the first state at or after a moment.
ExitCode print_moment(archive::Recording& recording, const ReplayArguments& arguments) {
  const Result<serve::ReplayedMoment> moment = serve::replayed_moment(recording, arguments.at);
  if (!moment) return report(moment.error());
  return print(arguments.output == Output::json
                   ? serve::moment_json(*moment)
                   : serve::moment_text(*moment, static_cast<std::size_t>(output_width())));
}

}  // namespace

ExitCode replay(const ReplayArguments& arguments) {
  const auto other = archive::read_policies(arguments.policy);
  if (!other) return report(other.error());
  Result<archive::Recording> recording = archive::Recording::open(arguments.recording);
  if (!recording) return report(recording.error());
  if (!arguments.at.empty()) return print_moment(*recording, arguments);
  const Result<serve::ReplayReport> all = serve::replay_report(*recording, *other);
  if (!all) return report(all.error());
  const ExitCode printed =
      print(arguments.output == Output::json ? serve::replay_json(*all)
                                             : serve::replay_text(*all, static_cast<std::size_t>(output_width())));
  return printed != kOk ? printed : all->count.differing > 0 ? kFindings : kOk;
}

}  // namespace capstan::cli
