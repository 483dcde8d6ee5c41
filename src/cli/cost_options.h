#pragma once

#include "cli/cost.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

/// Adds `capstan cost` and its subcommands.
CLI::App* add_cost(CLI::App& app, CostArguments& arguments);

}  // namespace capstan::cli
