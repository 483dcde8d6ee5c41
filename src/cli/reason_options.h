#pragma once

#include "cli/reason.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

/// Adds `capstan explain reason CODE`. Options that `explain` requires for an object are not required for a code.
CLI::App* add_explain_reason(CLI::App& explain, ReasonArguments& arguments);

}  // namespace capstan::cli
