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

/// How a request to the API server ended.
struct Outcome {
  enum class Kind : std::uint8_t {
    ok,
    refused,      ///< the server said no: nothing changed
    unknown,      ///< of a write: it may have taken effect or not, and must be read back
    unreachable,  ///< there was no answer, and nothing changed
  };
  Kind kind = Kind::ok;
  ApiError error;    ///< of all but ok
  std::string body;  ///< of ok

  bool ok() const { return kind == Kind::ok; }
};

/// Verbs against one API server, over any transport. It decides when a request is sent, with whose credentials, and
/// what an answer means; it never decides twice: a conflict (409) goes back to who knows what was wanted.
///
/// A connection may die without a word. When an urgent request gets no answer and a later one does, whatever
/// was sent before and is still silent is given up: what waits is told so, and watches begin anew where they were.
class Client {
 public:
  struct Options {
    std::int64_t requests_per_second = 50;  ///< client-side, before the server's own priority and fairness
    std::int64_t burst = 100;
    std::size_t queue_max = 4'096;  ///< requests that wait to be sent; more are unreachable at once
    int busy_retries_max = 4;       ///< after 429, each as late as the server asks
    Duration read_timeout = std::chrono::seconds(30);
    Duration write_timeout = std::chrono::seconds(15);
    Duration watch_idle = std::chrono::seconds(150);  ///< bookmarks come about once a minute: this is silence
    std::size_t body_bytes_max = 256u << 20;          ///< of one answer: a page of large objects
    std::size_t event_bytes_max = 8u << 20;           ///< of one event; etcd holds no object above 1.5 MiB
  };

  struct StreamHandler {
    std::function<bool(std::string_view line)> on_line;  ///< one event; false: the watch is not wanted any more
    std::function<void(const ApiError* error)> on_end;   ///< once, and last; null: in good order
  };

  using CallId = std::uint64_t;  ///< never 0
  using Handler = std::function<void(Outcome)>;

  /// Totals since the start.
  struct Counters {
    std::map<std::pair<Verb, int>, std::uint64_t> answers;  ///< by verb and HTTP status; 0: none came
    std::uint64_t retries = 0;
    std::uint64_t refused_by_queue = 0;
  };

  Client(net::Transport& transport, Credentials& credentials, net::Clock clock, RandomStream random, Options options);
  ~Client();
  Client(const Client&) = delete;

  // Neither calls its handler before it returns.
  CallId call(ApiRequest request, Handler handler);
  CallId stream(ApiRequest request, StreamHandler handler);
  /// Forgets a call; of a write that was sent, nobody will learn what became of it.
  void cancel(CallId id);

  /// Sends what is due. To be called when `next_deadline` has come, and after calls were made.
  void turn();
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
  bool again(Call& call, const ApiError& error, Instant now);

  net::Transport& transport_;
  Credentials& credentials_;
  net::Clock clock_;
  RandomStream random_;
  Options options_;
  TokenBucket bucket_;
  Counters counters_;
  CallId last_id_ = 0;
  std::map<CallId, std::shared_ptr<Call>> calls_;
  std::deque<CallId> waiting_;      // to be sent, in order
  std::optional<Instant> lost_at_;  // an urgent request got no answer then, and none was answered since
};

}  // namespace capstan::kube
