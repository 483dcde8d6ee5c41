
#include <chrono>
#include <cstdio>
#include <string>

#include "cli/engine_options.h"
#include "cli/stop_signal.h"
#include "emulator/address_feed.h"
#include "emulator/addresses.h"
#include "emulator/emulator.h"
#include "emulator/scaled_clock.h"
#include "engine/table.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;

std::int64_t wall_clock_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Error usage(std::string message) { return {.kind = ErrorKind::usage, .file = {}, .message = std::move(message)}; }

Result<emulator::EmulatorSettings> settings_of(const EngineServeArguments& a, const engine::EngineRow& row,
                                               const engine::StepModel& model) {
  if (a.max_batched_tokens < a.max_seqs) {
    return std::unexpected(
        usage("--max-num-batched-tokens is below --max-num-seqs, expected at least one token per sequence"));
  }
  if (a.loading > a.cold_start) {
    return std::unexpected(usage("--loading is longer than --cold-start, expected a part of it"));
  }
  emulator::EmulatorSettings settings;
  settings.engine.model = &model;
  settings.engine.replica = {.max_batched_tokens = a.max_batched_tokens,
                             .max_seqs = a.max_seqs,
                             .max_waiting = a.max_waiting,
                             .kv_blocks = a.kv_blocks,
                             .prefix_cache = !a.no_prefix_cache,
                             .role = sim::EngineRole::both};
  if (a.kv_blocks == 0) {
    const Result<std::int64_t> blocks = engine::kv_capacity_blocks(row);
    if (!blocks) return std::unexpected(blocks.error());
    settings.engine.replica.kv_blocks = *blocks;
  }
  settings.engine.front_end = a.front_end;
  settings.engine.refusing = a.cold_start - a.loading;
  settings.engine.loading = a.loading;
  settings.engine.dialect = a.metrics == "sglang" ? emulator::Dialect::sglang : emulator::Dialect::vllm;
  settings.model_name = a.served_name.empty() ? row.model : a.served_name;
  settings.max_model_tokens = a.max_model_tokens;
  settings.stream_interval = static_cast<std::int32_t>(a.stream_interval);
  settings.answer_tokens_mean = a.answer_tokens;
  settings.unix_s = wall_clock_s();
  settings.seed = static_cast<std::uint64_t>(a.seed);
  settings.version = "capstan-" CAPSTAN_VERSION;
  settings.http = emulator::emulator_limits();
  return settings;
}

/// Starts and stops the engines of changed addresses. Prints a line for each of them.
Result<void> apply(emulator::Emulator& emulator, const emulator::AddressFeed::Change& change) {
  for (const net::SocketAddress& address : change.removed) {
    if (emulator.remove(address)) std::fputs(("ended " + address.text() + "\n").c_str(), stdout);
  }
  for (const net::SocketAddress& address : change.added) {
    const Result<net::SocketAddress> bound = emulator.add(address);
    if (!bound) return std::unexpected(bound.error());
    std::fputs(("started " + bound->text() + "\n").c_str(), stdout);
  }
  std::fflush(stdout);
  return {};
}

Result<void> serve(emulator::Emulator& emulator, emulator::AddressFeed& feed, const emulator::ScaledClock& clock,
                   const net::Clock& world, Duration shutdown_timeout) {
  while (stop_signals() == 0) {
    const Result<emulator::AddressFeed::Change> change = feed.poll_changes();
    if (!change) {
      if (feed.is_first_poll()) return std::unexpected(change.error());
      report(change.error());  // a later error in the list must not stop running engines
    } else if (const Result<void> applied = apply(emulator, *change); !applied) {
      if (feed.is_first_poll()) return applied;
      report(applied.error());
    }
    const Instant next_poll = world() + kStopPollInterval;
    do {
      emulator.run_once(std::min(clock.until(emulator.next_event()), next_poll - world()));
    } while (stop_signals() == 0 && world() < next_poll);
  }
  emulator.finish();
  const Instant end = world() + shutdown_timeout;
  while (stop_signals() == 1 && emulator.connections() > 0 && world() < end) {
    emulator.run_once(std::min(clock.until(emulator.next_event()), kStopPollInterval));
  }
  return {};
}

}  // namespace

ExitCode engine_serve(const EngineServeArguments& arguments) {
  if (arguments.bind.empty() && arguments.bind_file.empty()) {
    return report(usage("no address to listen on, expected --bind or --bind-file"));
  }
  const Result<const engine::EngineRow*> row =
      engine::EngineTable::bundled().find(arguments.model, arguments.gpu, arguments.tensor_parallel, arguments.dtype);
  if (!row) return report(row.error());
  const engine::StepModel model((*row)->coefficients);
  Result<emulator::EmulatorSettings> settings = settings_of(arguments, **row, model);
  if (!settings) return report(settings.error());
  Result<emulator::AddressFeed> feed = emulator::AddressFeed::open(arguments.bind, arguments.bind_file);
  if (!feed) return report(feed.error());

  catch_stop_signals();
  const net::Clock world = net::machine_clock();
  const emulator::ScaledClock clock(world, static_cast<std::int64_t>(arguments.speed * 1000 + 0.5));
  emulator::Emulator emulator(std::move(*settings), clock.clock(), world);
  const Result<void> served = serve(emulator, *feed, clock, world, arguments.shutdown_timeout);
  return served ? kOk : report(served.error());
}

}  // namespace capstan::cli
