#pragma once

#include "cli/lint.h"

namespace CLI {
class App;
}

namespace capstan::cli {

/// Adds `capstan lint`.
CLI::App* add_lint(CLI::App& app, LintArguments& arguments);

}  // namespace capstan::cli
