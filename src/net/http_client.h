#pragma once

#include <cstddef>
#include <memory>

#include "net/http.h"
#include "net/monotonic.h"

namespace capstan::net {

/// One event loop for many HTTP exchanges, over libcurl: HTTP/1.1, and HTTP/2 with many requests on one connection
/// where a TLS server offers it; connections are kept and reused. It has no thread: everything happens inside
/// `run_once`. Redirects are not followed and the environment's proxies are not read.
class HttpClient : public Transport {
 public:
  struct Options {
    std::size_t requests_max = 20'000;              ///< in flight; more end with Failure::refused
    std::size_t connections_per_host_max = 64;      ///< more requests wait for one to come free
    std::size_t connections_max = 8'192;            ///< in all
    std::size_t idle_connections_max = 1'024;       ///< kept for the next request
    Duration keepalive = std::chrono::seconds(15);  ///< TCP probes after so much silence; also how long sent bytes may
                                                    ///< stay unacknowledged before the connection counts as lost
  };

  /// Also has the process ignore SIGPIPE: a connection that ends is an `Exchange`, not a signal.
  HttpClient(Clock clock, Options options);
  explicit HttpClient(Clock clock) : HttpClient(std::move(clock), Options()) {}
  ~HttpClient() override;

  RequestId start(Request request, Handler handler) override;
  void cancel(RequestId id) override;

  /// Waits until something can be done, at most `max_wait`, does it, and calls the handlers concerned.
  void run_once(Duration max_wait);

  std::size_t in_flight() const;

  /// Readable whenever `run_once(0)` has something to do, deadlines excepted: for another event loop to wait on.
  int poll_fd() const;
  /// The next moment at which `run_once` must be called even if `poll_fd` stays silent; never where there is none.
  Instant next_deadline() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace capstan::net
