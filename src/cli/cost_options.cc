#include "cli/cost_options.h"

#include <CLI/CLI.hpp>

#include <string>

#include "cli/options.h"

namespace capstan::cli {

namespace {

constexpr std::int64_t kMaxCount = 1'000'000;

CLI::App& add_question(CLI::App& cost, CostArguments& arguments, CostQuestion question, const std::string& name,
                       const std::string& help, const std::string& example) {
  CLI::App& command = *cost.add_subcommand(name, help);
  command.footer("Example:\n  capstan cost " + name + " " + example);
  command.parse_complete_callback([&arguments, question] { arguments.question = question; });
  add_output(command, arguments.output);
  return command;
}

void add_count(CLI::App& command, const std::string& option, std::int64_t& out, const std::string& help) {
  command.add_option(option, out, help)->check(CLI::Range(std::int64_t{1}, kMaxCount))->option_text("N");
}

CLI::Option* add_usd(CLI::App& command, const std::string& option, std::string& out, const std::string& help) {
  return command.add_option(option, out, help)->option_text("USD");
}

void add_replica(CLI::App& command, CostArguments& arguments) {
  add_count(command, "--gpus-per-replica", arguments.gpus_per_replica, "GPUs of a replica; default: 1");
  add_usd(command, "--usd-per-gpu-hour", arguments.usd_per_gpu_hour, "Price of a GPU for an hour")->required();
}

}  // namespace

CLI::App* add_cost(CLI::App& app, CostArguments& arguments) {
  CLI::App* cost = app.add_subcommand(
      "cost",
      "Compute the cost of tokens, months, warm pools, idle GPUs and consolidation, or compare with serverless");
  cost->require_subcommand(1);

  CLI::App& warm =
      add_question(*cost, arguments, CostQuestion::warm_pool, "warm-pool", "Cost of replicas that are always ready",
                   "--replicas 2 --gpus-per-replica 4 --usd-per-gpu-hour 6.88");
  add_count(warm, "--replicas", arguments.replicas, "Replicas that are always ready; default: 1");
  add_replica(warm, arguments);

  CLI::App& tokens =
      add_question(*cost, arguments, CostQuestion::tokens, "tokens", "Cost of a month and of a million answer tokens",
                   "--usd-per-hour 55.04 --tokens-per-second 1200");
  add_usd(tokens, "--usd-per-hour", arguments.usd_per_hour, "Price of the fleet for an hour")->required();
  tokens
      .add_option("--tokens-per-second", arguments.tokens_per_s,
                  "Answer tokens of the service, on average; without it: the cost of a month alone")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("RATE");

  CLI::App& idle = add_question(*cost, arguments, CostQuestion::idle, "idle", "Cost of GPUs that do nothing",
                                "--usd-per-hour 110 --idle 40%");
  add_usd(idle, "--usd-per-hour", arguments.usd_per_hour, "Price of all GPUs for an hour")->required();
  idle.add_option("--idle", arguments.idle, "Share of the GPU time without work; default: 30%")->option_text("SHARE");

  CLI::App& consolidation = add_question(*cost, arguments, CostQuestion::consolidation, "consolidation",
                                         "Cost of Karpenter's policy WhenEmptyOrUnderutilized on nodes that serve",
                                         "--usd-per-gpu-hour 6.88 --cold-start 4m --requests-per-second 3");
  add_count(consolidation, "--ended-per-day", arguments.ended_per_day,
            "Running replicas that Karpenter ends in a day; default: 60");
  consolidation.add_option("--cold-start", arguments.cold_start, "Time until the new replica serves; default: 5m")
      ->option_text("DURATION");
  add_count(consolidation, "--replicas", arguments.replicas, "Replicas that share the requests; default: 1");
  add_replica(consolidation, arguments);
  consolidation
      .add_option("--requests-per-second", arguments.requests_per_s, "Requests of the service; default: unknown")
      ->check(CLI::Range(0.0, 1e7))
      ->option_text("RATE");
  add_usd(consolidation, "--usd-per-lost-request", arguments.usd_per_lost_request, "What a lost request costs you");

  CLI::App& serverless = add_question(*cost, arguments, CostQuestion::serverless, "serverless",
                                      "Compare your own fleet and its staff with a serverless offer",
                                      "--usd-per-hour 40 --working-gpus 3 --serverless-usd-per-gpu-hour 9");
  add_usd(serverless, "--usd-per-hour", arguments.usd_per_hour, "Price of the fleet for an hour")->required();
  serverless
      .add_option("--working-gpus", arguments.working_gpus,
                  "GPUs that full batches would need for the load, on average; not the duty cycle")
      ->check(CLI::Range(0.0, 1e6))
      ->required()
      ->option_text("GPUS");
  add_usd(serverless, "--staff-usd-per-year", arguments.staff_usd_per_year,
          "Cost of an engineer for a year; default: 160000");
  serverless.add_option("--staff-share", arguments.staff_share, "Part of an engineer's time; default: 50%")
      ->option_text("SHARE");
  add_usd(serverless, "--serverless-usd-per-gpu-hour", arguments.serverless_usd_per_gpu_hour,
          "Price of the offer for a GPU-hour of useful work; without it: the price at which both cost the same");

  cost->footer(
      "Examples:\n"
      "  capstan cost warm-pool --replicas 2 --gpus-per-replica 4 --usd-per-gpu-hour 6.88\n"
      "  capstan cost consolidation --usd-per-gpu-hour 6.88 --cold-start 4m --requests-per-second 3");
  return cost;
}

}  // namespace capstan::cli
