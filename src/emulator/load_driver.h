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
  std::string model;                   ///< named in every request; empty: requests name no model
  LoadRoute route = LoadRoute::round_robin;
  RequestCount limit = INT64_MAX;               ///< maximum number of requests
  std::int64_t in_flight_max = 16'384;          ///< most requests in flight; further ones count as "driver_full"
  Duration timeout = std::chrono::minutes(10);  ///< time-out of a request, in real time
  std::vector<net::Header> headers{};           ///< headers of each request in addition to its Content-Type
  std::shared_ptr<const net::Tls> tls{};        ///< trust in https endpoints; null: the system's authorities
};

/// Returns the URL of the completions API under a base URL, which may end in "/v1" as in OpenAI's clients.
std::string completions_url(std::string_view base);

/// Sends the requests of a source when they are due, independently of the replies to earlier requests (open loop). The
/// requests are streaming completions that ask for exactly the recorded number of tokens. Prompts are arrays of token
/// ids of the recorded length; they begin with equal ids where the source's prefixes are equal.
///
/// The driver has no loop of its own: call run() when next_event() has come, and run the transport in between. A call
/// of run() before next_event() sends nothing.
class LoadDriver {
 public:
  /// `clock` is the load's clock, in which requests are due and latencies are measured. `source` and `transport` must
  /// outlive the driver.
  LoadDriver(LoadSettings settings, workload::Source& source, net::Transport& transport, net::Clock clock);
  ~LoadDriver();
  LoadDriver(const LoadDriver&) = delete;
  LoadDriver& operator=(const LoadDriver&) = delete;

  void run();                  ///< sends the requests that are due
  Instant next_event() const;  ///< time at which the next request is due; never() if all are sent
  bool is_over() const { return next_event().is_never() && in_flight_.empty(); }
  void stop();  ///< sends no more requests and cancels the requests in flight

  /// Replaces the endpoints for later requests; requests in flight are not moved. Without an endpoint, a request that
  /// is due counts as the error "no_endpoint".
  void set_endpoints(std::vector<std::string> endpoints);

  const LoadReport& report() const { return report_; }
  double progress() const { return source_.progress(); }  ///< share of the source that was sent, 0 to 1
  std::optional<Error> error() const { return source_.error(); }

 private:
  struct InFlightRequest;

  void send(const workload::Request& request);
  void on_bytes(InFlightRequest& request, std::string_view bytes);
  void on_end(std::uint64_t number, const net::Exchange& exchange);
  std::string error_kind(const InFlightRequest& request, const net::Exchange& exchange) const;
  std::size_t pick_endpoint();
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
  std::map<std::uint64_t, std::unique_ptr<InFlightRequest>> in_flight_;
  LoadReport report_;
};

/// Returns the prompt of a request as a JSON array of token ids.
std::string prompt_token_ids(const workload::Request& request, std::uint64_t number);

}  // namespace capstan::emulator
