#pragma once

#include "cli/plan.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

/// Adds `capstan plan`.
CLI::App* add_plan(CLI::App& app, PlanArguments& arguments);

}  // namespace capstan::cli
