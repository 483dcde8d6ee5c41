#pragma once

#include "cli/reason.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

/// Adds `capstan explain reason CODE`. What `explain` requires of an object is not required of a code.
CLI::App* add_explain_reason(CLI::App& explain, ReasonArguments& arguments);

}  // namespace capstan::cli
