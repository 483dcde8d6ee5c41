#pragma once

#include <cstddef>
#include <memory>

#include "net/http.h"
#include "net/monotonic.h"

namespace capstan::net {

/// An event loop for many HTTP exchanges, built on libcurl. It speaks HTTP/1.1, and HTTP/2 with many requests on one
/// connection if a TLS server offers it. Connections are reused. There is no thread: all work happens inside
/// `run_once`. Redirects are not followed, and proxies of the environment are ignored.
class HttpClient : public Transport {
 public:
  struct Options {
    std::size_t requests_max = 20'000;              ///< requests in flight; further ones fail with Failure::refused
    std::size_t connections_per_host_max = 64;      ///< further requests wait for a free connection
    std::size_t connections_max = 8'192;            ///< connections to all hosts
    std::size_t idle_connections_max = 1'024;       ///< idle connections kept for reuse
    Duration keepalive = std::chrono::seconds(15);  ///< idle time before TCP keep-alive probes; also the time after
                                                    ///< which a connection with unacknowledged bytes is lost
  };

  /// Creates a client. The process then ignores SIGPIPE, so that an ended connection gives a failed `Exchange`.
  HttpClient(Clock clock, Options options);
  explicit HttpClient(Clock clock) : HttpClient(std::move(clock), Options()) {}
  ~HttpClient() override;

  RequestId start(Request request, Handler handler) override;
  void cancel(RequestId id) override;

  /// Waits for events for at most `max_wait`, handles them, and calls the handlers.
  void run_once(Duration max_wait);

  std::size_t in_flight() const;

  /// Returns a descriptor for another event loop. It is readable if a socket has an event. Deadlines, and requests
  /// that were started or cancelled since the last `run_once`, do not make it readable; `next_deadline` covers them.
  int poll_fd() const;
  /// Returns the time at which `run_once` must be called even if `poll_fd` is not readable, or `never`.
  Instant next_deadline() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace capstan::net
