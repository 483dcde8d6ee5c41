#pragma once

#include <string>

#include "cli/commands.h"

namespace capstan::cli {

struct ReasonArguments {
  std::string code;  ///< reason code: "queue_limit", or "QueueLimit" as in an Event
  Output output = Output::text;
};
/// Prints the meaning, numbers, causes and remedy of one reason code.
ExitCode explain_reason(const ReasonArguments& arguments);

}  // namespace capstan::cli
