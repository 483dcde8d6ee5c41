#include "kube/client.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::kube {
namespace {

/// Pause after a 429 whose answer does not say how long to wait.
constexpr Duration kBusyPause = std::chrono::seconds(1);
/// Longest time that a request waits for credentials.
constexpr Duration kCredentialsMax = std::chrono::seconds(40);
/// Longest time that a watch may run after its timeout. The server should end the watch at the timeout.
constexpr Duration kWatchGrace = std::chrono::seconds(30);
/// Largest error body of a watch that is read; a Status object needs less.
constexpr std::size_t kErrorBodyMax = 64u << 10;

ApiError no_answer(std::string message) {
  ApiError error;
  error.message = std::move(message);
  return error;
}

std::string source_hint(std::string_view label, const std::string& place) {
  return place.empty() ? std::string() : std::string(label) + place;
}

bool success(int status) { return status >= 200 && status < 300; }

/// Returns true if a write may have taken effect despite this error (5xx): the server, or a proxy in front of it, may
/// have stopped waiting for the write.
bool may_have_taken_effect(const ApiError& error) { return error.code >= 500 && error.code != 501; }

Outcome::Kind kind_of(Verb verb, const ApiError& error) {
  return is_write(verb) && may_have_taken_effect(error) ? Outcome::Kind::unknown : Outcome::Kind::refused;
}

}  // namespace

struct Client::Call {
  CallId id = 0;
  ApiRequest request;
  Handler handler;                    // handler of a call
  StreamHandler stream;               // handler of a stream
  std::optional<LineSplitter> lines;  // lines of a stream; none for a call
  net::RequestId exchange = 0;        // exchange in flight; 0: not sent yet
  Instant last_data_at{};             // time of the last received data; time of sending if there was none
  Instant not_before{};
  Instant give_up_at = Instant::never();  // deadline for credentials
  int busy_retries = 0;
  bool has_new_credentials = false;  // a 401 was already retried with new credentials
  int status = 0;
  std::string error_body;  // body of a stream whose answer is an error
};

Client::Client(net::Transport& transport, Credentials& credentials, net::Clock clock, RandomStream random,
               Options options)
    : transport_(transport),
      credentials_(credentials),
      clock_(std::move(clock)),
      random_(random),
      options_(options),
      bucket_(options.requests_per_second, options.burst) {}

Client::~Client() {
  for (const auto& [id, call] : calls_) {
    if (call->exchange != 0) transport_.cancel(call->exchange);
  }
}

Client::CallId Client::add(std::shared_ptr<Call> call) {
  const CallId id = ++last_id_;
  call->id = id;
  call->give_up_at = clock_() + kCredentialsMax;
  if (call->request.urgent) {
    waiting_.push_front(id);
  } else {
    waiting_.push_back(id);
  }
  calls_.emplace(id, std::move(call));
  return id;
}

Client::CallId Client::call(ApiRequest request, Handler handler) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->handler = std::move(handler);
  return add(std::move(call));
}

Client::CallId Client::stream(ApiRequest request, StreamHandler handler) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->stream = std::move(handler);
  call->lines.emplace(options_.event_bytes_max);
  return add(std::move(call));
}

void Client::cancel(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  if (found->second->exchange != 0) transport_.cancel(found->second->exchange);
  std::erase(waiting_, id);
  calls_.erase(found);
}

void Client::run_once() {
  const Instant now = clock_();
  credentials_.run_once(now);
  while (waiting_.size() > options_.queue_max) {
    const CallId last = waiting_.back();
    waiting_.pop_back();
    ++counters_.refused_by_queue;
    finish(last, {.kind = Outcome::Kind::unreachable,
                  .error = no_answer("the queue of requests to the API server is full"),
                  .body = {}});
  }
  // The loop visits only the calls that wait now, because a handler may make new calls. A call that cannot be sent
  // keeps its place in the queue.
  std::deque<CallId> still_waiting;
  for (const CallId id : std::exchange(waiting_, {})) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;  // cancelled by a handler
    Call& call = *found->second;
    if (!credentials_.ready() && now >= call.give_up_at) {
      const std::string why = credentials_.error() ? credentials_.error()->text() : "no credentials yet";
      finish(id, {.kind = Outcome::Kind::unreachable, .error = no_answer(why), .body = {}});
    } else if (!send(call, now)) {
      still_waiting.push_back(id);
    }
  }
  waiting_.insert(waiting_.begin(), still_waiting.begin(), still_waiting.end());
}

Instant Client::next_deadline() const {
  Instant next = credentials_.next_deadline();
  for (const CallId id : waiting_) {
    const Call& call = *known_row(calls_, id);
    if (!credentials_.ready()) {
      next = std::min(next, call.give_up_at);
    } else {
      next = std::min(next, call.request.urgent ? call.not_before : std::max(call.not_before, bucket_.next()));
    }
  }
  return next;
}

/// Sends a request, or finishes it if it may not be sent any more. Returns false if it has to stay in the queue.
bool Client::send(Call& call, Instant now) {
  if (!credentials_.ready() || now < call.not_before) return false;
  const CallId id = call.id;
  if (call.request.may_send && !call.request.may_send()) {
    finish(id, {.kind = Outcome::Kind::unreachable,
                .error = no_answer("not sent: this process may not write now"),
                .body = {}});
    return true;
  }
  if (!call.request.urgent && !bucket_.take(now)) return false;
  net::Handler handler;
  handler.on_done = [this, id](net::Exchange exchange) { answered(id, std::move(exchange)); };
  if (call.lines) {
    handler.on_headers = [&call](const net::Response& response) { call.status = response.status; };
    handler.on_body = [this, id](std::string_view piece) { line_piece(id, piece); };
  }
  call.last_data_at = now;
  call.exchange = transport_.start(http_request(call), std::move(handler));
  return true;
}

net::Request Client::http_request(const Call& call) const {
  net::Request http;
  http.method = call.request.method;
  http.url = credentials_.config().server + call.request.path;
  http.headers.push_back({"Accept", call.request.accept});
  if (!call.request.content_type.empty()) http.headers.push_back({"Content-Type", call.request.content_type});
  http.body = call.request.body;
  http.limits.body_bytes = call.lines ? 0 : options_.body_bytes_max;
  http.limits.total = call.lines                          ? call.request.watch_timeout + kWatchGrace
                      : call.request.timeout > Duration{} ? call.request.timeout
                      : is_write(call.request.verb)       ? options_.write_timeout
                                                          : options_.read_timeout;
  if (call.lines) http.limits.idle = options_.watch_idle;
  credentials_.sign(http);
  return http;
}

void Client::line_piece(CallId id, std::string_view piece) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> owner = found->second;  // a handler may cancel this call
  Call& call = *owner;
  call.last_data_at = clock_();
  if (!success(call.status)) {
    call.error_body += piece.substr(0, kErrorBodyMax - std::min(kErrorBodyMax, call.error_body.size()));
    return;
  }
  bool continues = true;
  const bool within_limit = call.lines->take(
      piece, [&](std::string_view line) { return continues = call.stream.on_line(line) && calls_.contains(id); });
  if (!continues) {
    cancel(id);
  } else if (!within_limit) {
    transport_.cancel(call.exchange);
    const ApiError error =
        no_answer("a watch event is larger than the limit of " + std::to_string(options_.event_bytes_max) + " bytes");
    finish(id, {.kind = Outcome::Kind::unreachable, .error = error, .body = {}});
  }
}

void Client::answered(CallId id, net::Exchange exchange) {
  const auto found = calls_.find(id);
  CAPSTAN_ASSERT(found != calls_.end());
  const std::shared_ptr<Call> owner = found->second;  // a handler may cancel this call
  Call& call = *owner;
  call.exchange = 0;
  const Verb verb = call.request.verb;
  ++counters_.answers[{verb, exchange.ok() ? exchange.response.status : 0}];
  // An urgent request without an answer sets `lost_at_` even if it was not sent: the handshake may have failed.
  if (call.request.urgent && !exchange.ok()) {
    lost_at_ = clock_();
  } else if (exchange.ok()) {
    drop_silent();
    if (!calls_.contains(id)) return;
  }
  if (!exchange.ok()) {
    const bool is_uncertain = exchange.sent && is_write(verb);
    finish(id, {.kind = is_uncertain ? Outcome::Kind::unknown : Outcome::Kind::unreachable,
                .error = no_answer(with_trust(std::move(exchange))),
                .body = {}});
    return;
  }
  if (success(exchange.response.status)) {
    finish(id, {.kind = Outcome::Kind::ok, .error = {}, .body = std::move(exchange.response.body)});
    return;
  }
  if (call.lines) exchange.response.body = std::move(call.error_body);
  ApiError error = error_of(exchange.response);
  if (error.code == 401) error.message += source_hint("; credentials from ", credentials_.config().identity_from);
  if (!retry(call, error, clock_())) finish(id, {.kind = kind_of(verb, error), .error = error, .body = {}});
}

/// Returns the message of a failed exchange. A TLS error also names the source of the trusted certificates.
std::string Client::with_trust(net::Exchange exchange) const {
  if (exchange.failure != net::Failure::tls) return std::move(exchange.message);
  return exchange.message + source_hint("; trusted certificates from ", credentials_.config().trust_from);
}

/// Gives up all requests that got no data since the server stopped answering. The server answers again, so their
/// connection is dead.
void Client::drop_silent() {
  if (!lost_at_) return;
  std::vector<CallId> silent;
  for (const auto& [id, call] : calls_) {
    if (call->exchange != 0 && call->last_data_at <= *lost_at_) silent.push_back(id);
  }
  lost_at_.reset();
  for (const CallId id : silent) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) continue;  // cancelled by a handler
    Call& call = *found->second;
    transport_.cancel(std::exchange(call.exchange, 0));
    finish(id, {.kind = is_write(call.request.verb) ? Outcome::Kind::unknown : Outcome::Kind::unreachable,
                .error = no_answer("the connection is dead: the server answers on a newer one"),
                .body = {}});
  }
}

/// Queues a refused request once more if the server may accept it later (429) or with new credentials (401). In both
/// cases the server has changed nothing. Returns false if the request is not retried.
bool Client::retry(Call& call, const ApiError& error, Instant now) {
  if (error.code == 401 && !call.has_new_credentials) {
    call.has_new_credentials = true;
    credentials_.refused();
    call.give_up_at = now + kCredentialsMax;
  } else if (error.code == 429 && call.request.retry_when_busy && call.busy_retries < options_.busy_retries_max) {
    call.busy_retries += 1;
    const Duration pause = std::max(error.retry_after, kBusyPause);
    call.not_before = now + pause + Duration(random_.between(0, pause.count() / 8));
  } else {
    return false;
  }
  ++counters_.retries;
  call.error_body.clear();
  call.lines = call.lines ? std::optional<LineSplitter>(options_.event_bytes_max) : std::nullopt;
  waiting_.push_front(call.id);
  return true;
}

void Client::finish(CallId id, Outcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> call = found->second;
  calls_.erase(found);
  if (call->lines) {
    if (call->stream.on_end) call->stream.on_end(outcome.ok() ? nullptr : &outcome.error);
  } else if (call->handler) {
    call->handler(std::move(outcome));
  }
}

}  // namespace capstan::kube
