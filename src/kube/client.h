#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "kube/api_error.h"
#include "kube/credentials.h"
#include "kube/line_splitter.h"
#include "kube/request.h"
#include "kube/token_bucket.h"
#include "net/http.h"
#include "net/monotonic.h"

namespace capstan::kube {

/// The result of a request to the API server.
struct Outcome {
  enum class Kind : std::uint8_t {
    ok,
    refused,      ///< the server refused; nothing changed
    unknown,      ///< a write may or may not have taken effect and must be read back
    unreachable,  ///< there was no answer; nothing changed
  };
  Kind kind = Kind::ok;
  ApiError error;    ///< error of an outcome that is not ok
  std::string body;  ///< body of the answer, if ok

  bool ok() const { return kind == Kind::ok; }
};

/// Sends requests to one API server over any transport. It decides when a request is sent, adds the credentials, and
/// classifies the answer. It never retries a conflict (409), because only the caller can resolve it.
///
/// A connection may die without an error. The client assumes this when an urgent request gets no answer and a later
/// request gets one. It then gives up every request that has received no data since the urgent request failed: calls
/// end with an error, and watches restart from their last version.
class Client {
 public:
  struct Options {
    std::int64_t requests_per_second = 50;  ///< client-side limit, in addition to the server's priority and fairness
    std::int64_t burst = 100;
    std::size_t queue_max = 4'096;  ///< largest number of waiting requests; further requests end as `unreachable`
    int busy_retries_max = 4;       ///< retries after 429, each after the wait that the server asks for
    Duration read_timeout = std::chrono::seconds(30);
    Duration write_timeout = std::chrono::seconds(15);
    Duration watch_idle = std::chrono::seconds(150);  ///< longest time without data on a live watch; bookmarks come
                                                      ///< about once a minute
    std::size_t body_bytes_max = 256u << 20;          ///< largest answer, bytes; a page of large objects must fit
    std::size_t event_bytes_max = 8u << 20;           ///< largest event, bytes; etcd stores objects up to 1.5 MiB
  };

  struct StreamHandler {
    std::function<bool(std::string_view line)> on_line;  ///< takes one event; returns false to cancel the watch
    std::function<void(const ApiError* error)> on_end;   ///< called once, at the end; null: the watch ended normally
  };

  using CallId = std::uint64_t;  ///< unique number, never 0
  using Handler = std::function<void(Outcome)>;

  /// Totals since the start.
  struct Counters {
    std::map<std::pair<Verb, int>, std::uint64_t> answers;  ///< number of answers by verb and HTTP status (0: none)
    std::uint64_t retries = 0;
    std::uint64_t refused_by_queue = 0;
  };

  Client(net::Transport& transport, Credentials& credentials, net::Clock clock, RandomStream random, Options options);
  ~Client();
  Client(const Client&) = delete;

  // These functions return before the handler is called.
  CallId call(ApiRequest request, Handler handler);
  CallId stream(ApiRequest request, StreamHandler handler);
  /// Cancels a call. The outcome of a write that was already sent stays unknown.
  void cancel(CallId id);

  /// Sends the requests that are due. Call it at `next_deadline` and after new calls.
  void run_once();
  Instant next_deadline() const;

  const Counters& counters() const { return counters_; }

 private:
  struct Call;

  CallId add(std::shared_ptr<Call> call);
  bool send(Call& call, Instant now);
  void drop_silent();
  net::Request http_request(const Call& call) const;
  void answered(CallId id, net::Exchange exchange);
  std::string with_trust(net::Exchange exchange) const;
  void line_piece(CallId id, std::string_view piece);
  void finish(CallId id, Outcome outcome);
  bool retry(Call& call, const ApiError& error, Instant now);

  net::Transport& transport_;
  Credentials& credentials_;
  net::Clock clock_;
  RandomStream random_;
  Options options_;
  TokenBucket bucket_;
  Counters counters_;
  CallId last_id_ = 0;
  std::map<CallId, std::shared_ptr<Call>> calls_;
  std::deque<CallId> waiting_;      // requests to send, in order
  std::optional<Instant> lost_at_;  // time at which an urgent request got no answer; none after the next answer
};

}  // namespace capstan::kube
