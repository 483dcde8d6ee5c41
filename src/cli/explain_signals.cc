#include "cli/explain_signals.h"

#include "cli/stop_signal.h"

namespace capstan::cli {
namespace {

Result<explain::GatheredSignals> gather(const op::SignalQuestion& question) {
  if (!question.page.empty() || !question.url.empty()) return op::gather_from_page(question);
  if (question.service.empty()) {
    return std::unexpected(Error{ErrorKind::usage, "capstan explain signals", 0, 0,
                                 "nothing is named, expected a service, --page or --url"});
  }
  catch_stop_signals();
  return op::gather_from_cluster(question, [] { return stop_signals() != 0; });
}

}  // namespace

ExitCode explain_signals(const ExplainSignalsArguments& arguments) {
  const Result<explain::GatheredSignals> gathered = gather(arguments.question);
  if (!gathered) return report(gathered.error());
  const bool json = arguments.output == Output::json;
  const ExitCode printed = print(json ? explain::signals_json(*gathered) : explain::signals_text(*gathered));
  if (printed != kOk) return printed;
  return explain::signal_path(gathered->facts).broken ? kFindings : kOk;
}

}  // namespace capstan::cli
