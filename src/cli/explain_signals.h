#pragma once

#include "cli/commands.h"
#include "operator/facts/gather_signals.h"

namespace capstan::cli {

struct ExplainSignalsArguments {
  op::SignalQuestion question{};
  Output output = Output::text;
};
/// Prints the stages that the signals of a service pass, the first stage at which a signal is lost, and the bottleneck
/// of the slowest replica. Returns exit code 2 if a signal is lost.
ExitCode explain_signals(const ExplainSignalsArguments& arguments);

}  // namespace capstan::cli
