#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "emulator/load_report.h"
#include "emulator/stream_reader.h"
#include "net/http.h"
#include "net/monotonic.h"
#include "workload/source.h"

namespace capstan::emulator {

enum class LoadRoute : std::uint8_t { round_robin, least_loaded };

struct LoadSettings {
  std::vector<std::string> endpoints;  ///< base URLs, "http://127.0.0.1:8000" or "https://host/v1"
  std::string model;                   ///< named in every request; empty: none is
  LoadRoute route = LoadRoute::round_robin;
  RequestCount limit = INT64_MAX;               ///< requests at most
  std::int64_t in_flight_max = 16'384;          ///< a request beyond it counts as the error "driver_full"
  Duration timeout = std::chrono::minutes(10);  ///< of a request, in the world's time
  std::vector<net::Header> headers{};           ///< sent with each request beside its Content-Type
  std::shared_ptr<const net::Tls> tls{};        ///< of https endpoints; null: the system's authorities
};

/// Returns the URL of the completions API below a base URL, which may end in "/v1" as those of OpenAI's clients do.
std::string completions_url(std::string_view base);

/// Sends the requests of a source when they are due, whatever became of those before them (open loop), as streaming
/// completions that ask for exactly the recorded number of tokens. Prompts are token ids: the recorded count, and equal
/// beginnings where the source's prefixes are equal.
///
/// Has no loop of its own: call run() at next_event() or earlier, and run the transport in between.
class LoadDriver {
 public:
  /// `clock` is the load's: requests are due, and latencies are measured, in its time. All outlive the driver.
  LoadDriver(LoadSettings settings, workload::Source& source, net::Transport& transport, net::Clock clock);
  ~LoadDriver();
  LoadDriver(const LoadDriver&) = delete;
  LoadDriver& operator=(const LoadDriver&) = delete;

  void run();                  ///< sends what is due
  Instant next_event() const;  ///< when the next request is due; never() when all are sent
  bool over() const { return next_event().is_never() && in_flight_.empty(); }
  void stop();  ///< sends no more, and drops what is in flight

  /// Other endpoints from now on; requests in flight stay where they are. Where there are none, a request that is due
  /// counts as the error "no_endpoint".
  void set_endpoints(std::vector<std::string> endpoints);

  const LoadReport& report() const { return report_; }
  double progress() const { return source_.progress(); }  ///< of what was to be sent, 0 to 1
  std::optional<Error> error() const { return source_.error(); }

 private:
  struct Flight;

  void send(const workload::Request& request);
  void heard(Flight& flight, std::string_view bytes);
  void ended(std::uint64_t number, const net::Exchange& exchange);
  std::string why(const Flight& flight, const net::Exchange& exchange) const;
  std::size_t pick();
  std::string body(const workload::Request& request) const;
  void advance_source();

  LoadSettings settings_;
  workload::Source& source_;
  net::Transport& transport_;
  net::Clock clock_;
  Instant started_;
  std::uint64_t sent_ = 0;
  std::optional<workload::Request> next_;
  std::size_t turn_ = 0;
  std::map<std::string, std::int64_t> loads_;  ///< requests in flight by endpoint
  std::map<std::uint64_t, std::unique_ptr<Flight>> in_flight_;
  LoadReport report_;
};

/// The prompt of a request as a JSON array of token ids.
std::string prompt_token_ids(const workload::Request& request, std::uint64_t number);

}  // namespace capstan::emulator
