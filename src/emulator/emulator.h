#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "emulator/completion_request.h"
#include "emulator/engine.h"
#include "emulator/reply.h"
#include "net/http_server.h"
#include "net/monotonic.h"

namespace capstan::emulator {

struct EmulatorSettings {
  EngineSettings engine;
  std::string model_name;                   ///< the served model; a request for another model gets 404
  std::int64_t max_model_tokens = 131'072;  ///< limit of prompt and answer together, tokens
  std::int32_t stream_interval = 1;         ///< tokens per event of a stream
  std::int64_t answer_tokens_mean = 256;    ///< mean length of answers that end by themselves, tokens
  std::int64_t unix_s = 0;                  ///< Unix time of the clock's 0, seconds
  std::uint64_t seed = 1;
  std::string version;  ///< reply of /version
  net::HttpServerLimits http;
};

/// Returns the default limits of an emulator's server: prompts of a million token ids and thousands of streams.
net::HttpServerLimits emulator_limits();

/// Emulated engines behind HTTP, one per address. All have the same settings and are independent of each other. An
/// engine behaves like a pod of an inference server towards clients, probes and scrapers. Everything runs in one
/// thread. The clock of the engines may run faster than real time.
class Emulator : public net::HttpHandler {
 public:
  /// Creates an emulator without engines. The time-outs of connections use `real_clock`.
  Emulator(EmulatorSettings settings, net::Clock engine_clock, net::Clock real_clock);

  /// Starts a new engine now. The engine first refuses connections, then loads, then serves. Returns an error if the
  /// address is in use.
  Result<net::SocketAddress> add(const net::SocketAddress& address);
  /// Ends an engine like a killed process: its connections are cut. Returns false if there is no engine at the address.
  bool remove(const net::SocketAddress& address);

  /// Runs all events up to now, then waits at most `max_wait` for clients and serves them. Returns true if a client was
  /// served.
  bool run_once(Duration max_wait);
  /// Returns the time of the next event, on the engines' clock; never() if all engines are idle.
  Instant next_event() const { return wakes_.empty() ? Instant::never() : wakes_.begin()->first; }

  /// Stops accepting connections and requests; running requests continue to their end.
  void finish() { server_.finish(); }
  std::size_t connections() const { return server_.connections(); }
  std::size_t engines() const { return by_address_.size(); }

  void on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) override;
  void on_gone(net::ExchangeId exchange) override;

 private:
  /// A request that is in an engine, and the exchange that gets its answer.
  struct PendingRequest {
    net::ExchangeId exchange{};
    Answer answer;
    bool stream = false;
    bool include_usage = false;
    std::int32_t sent_tokens = 0;
  };
  /// An answer that an engine is asked to generate, and the position at which a stop string ends it.
  struct PlannedAnswer {
    Generation generation;
    std::optional<StopMatch> stop;
  };
  /// An engine at an address. Its index is the id of its listener.
  struct Endpoint {
    Endpoint(const EngineSettings& settings, Instant now) : engine(settings, now) {}
    Engine engine;
    Instant started;
    Instant wake = Instant::never();
    bool open = false;
    std::map<RequestId, PendingRequest> pending;
  };

  void advance(Instant now);
  void advance_endpoint(std::uint32_t index, Instant now);
  void schedule(std::uint32_t index);
  void wake_at(std::uint32_t index, Instant at);
  void send_progress(Endpoint& endpoint, const Progress& progress);
  void route(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request);
  void complete(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request, CompletionKind kind);
  std::expected<PlannedAnswer, ApiError> plan(const CompletionRequest& request) const;
  void refuse(net::ExchangeId exchange, const ApiError& error);
  std::int64_t unix_s(Instant at) const { return settings_.unix_s + at.since_start.count() / 1'000'000'000; }

  EmulatorSettings settings_;
  net::Clock clock_;
  ReplyWriter writer_;
  CompletionReader reader_;
  Instant now_{};
  std::uint64_t requests_ = 0;
  std::map<net::SocketAddress, std::uint32_t> by_address_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;   ///< engines by listener id; null if removed
  std::set<std::pair<Instant, std::uint32_t>> wakes_;  ///< time of each endpoint's next event
  std::map<net::ExchangeId, std::pair<std::uint32_t, RequestId>> exchanges_;
  std::vector<Progress> progress_;
  net::HttpServer server_;
};

}  // namespace capstan::emulator
