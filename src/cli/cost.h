#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/commands.h"

namespace capstan::cli {

enum class CostQuestion : std::uint8_t { warm_pool, tokens, idle, consolidation, serverless };

/// The arguments of `capstan cost`. Each of its subcommands uses some of them; docs/reference/cost.md lists which.
struct CostArguments {
  CostQuestion question = CostQuestion::warm_pool;
  std::int64_t replicas = 1;
  std::int64_t gpus_per_replica = 1;
  std::string usd_per_gpu_hour;    ///< price of a GPU-hour, such as "6.88"
  std::string usd_per_hour;        ///< price of the fleet for an hour
  std::string idle = "30%";        ///< share of the paid GPU time without work
  std::int64_t ended_per_day = 0;  ///< 0: not stated
  std::string cold_start = "5m";
  double requests_per_s = 0;
  std::string usd_per_lost_request;
  double tokens_per_s = 0;  ///< answer tokens; 0: unknown
  double working_gpus = 0;
  std::string staff_usd_per_year = "160000";
  std::string staff_share = "50%";
  std::string serverless_usd_per_gpu_hour;
  Output output = Output::text;
};
/// Prints what a part of a fleet costs, with the formula.
ExitCode cost(const CostArguments& arguments);

}  // namespace capstan::cli
