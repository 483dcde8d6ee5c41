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
  std::string model_name;                   ///< as served; requests that name another get 404
  std::int64_t max_model_tokens = 131'072;  ///< of prompt and answer
  std::int32_t stream_interval = 1;         ///< tokens a piece of a stream
  std::int64_t answer_tokens_mean = 256;    ///< of answers that end by themselves
  std::int64_t unix_s = 0;                  ///< seconds from 1970 to the clock's 0
  std::uint64_t seed = 1;
  std::string version;  ///< what /version says
  net::HttpServerLimits http;
};

/// The default bounds of an emulator's server: prompts of a million token ids, thousands of streams.
net::HttpServerLimits emulator_limits();

/// Emulated engines behind HTTP, one an address, all alike and each on its own: what a pod of an inference server shows
/// to its clients, to probes and to a scraper. One thread; time is the clock's, which may run faster than the world's.
class Emulator : public net::HttpHandler {
 public:
  /// `clock` is the engines', `world` that of the connections' time-outs.
  Emulator(EmulatorSettings settings, net::Clock clock, net::Clock world);

  /// A new engine starts now: connections refused, then loading, then ready. Error: the address is taken.
  Result<net::SocketAddress> add(const net::SocketAddress& address);
  /// Ends an engine as a killed process ends: what it was doing is cut off. False if there is none.
  bool remove(const net::SocketAddress& address);

  /// Everything up to now, then waits at most `max_wait` for clients and serves them. True if anything happened.
  bool run_once(Duration max_wait);
  /// When an engine next has something to do, in the clock's time; never() when all are idle.
  Instant next_event() const { return wakes_.empty() ? Instant::never() : wakes_.begin()->first; }

  /// No new connections and no new requests; what runs goes on until it has ended.
  void finish() { server_.finish(); }
  std::size_t connections() const { return server_.connections(); }
  std::size_t engines() const { return by_address_.size(); }

  void on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) override;
  void on_gone(net::ExchangeId exchange) override;

 private:
  /// A request between an exchange and an engine.
  struct Pending {
    net::ExchangeId exchange{};
    Answer answer;
    bool stream = false;
    bool include_usage = false;
    std::int32_t sent_tokens = 0;
  };
  /// A request as the engine gets it, and where a stop string ends its answer.
  struct Planned {
    Generation generation;
    std::optional<StopMatch> stop;
  };
  /// An address and its engine. Its number is its listener's.
  struct Seat {
    Seat(const EngineSettings& settings, Instant now) : engine(settings, now) {}
    Engine engine;
    Instant started;
    Instant wake = Instant::never();
    bool open = false;
    std::map<RequestId, Pending> pending;
  };

  void advance(Instant now);
  void advance_seat(std::uint32_t index, Instant now);
  void schedule(std::uint32_t index);
  void wake_at(std::uint32_t index, Instant at);
  void tell(Seat& seat, const Progress& progress);
  void route(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request);
  void complete(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request, CompletionKind kind);
  std::expected<Planned, ApiError> plan(const CompletionRequest& request) const;
  void refuse(net::ExchangeId exchange, const ApiError& error);
  std::int64_t unix_s(Instant at) const { return settings_.unix_s + at.since_start.count() / 1'000'000'000; }

  EmulatorSettings settings_;
  net::Clock clock_;
  ReplyWriter writer_;
  CompletionReader reader_;
  Instant now_{};
  std::uint64_t requests_ = 0;
  std::map<net::SocketAddress, std::uint32_t> by_address_;
  std::vector<std::unique_ptr<Seat>> seats_;           ///< by listener; an absent one was removed
  std::set<std::pair<Instant, std::uint32_t>> wakes_;  ///< seats by when they next have something to do
  std::map<net::ExchangeId, std::pair<std::uint32_t, RequestId>> exchanges_;
  std::vector<Progress> progress_;
  net::HttpServer server_;
};

}  // namespace capstan::emulator
