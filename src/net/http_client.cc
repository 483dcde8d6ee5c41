#include "net/http_client.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <set>
#include <utility>

#include <curl/curl.h>

#include "base/assert.h"
#include "base/known_row.h"
#include "net/curl_transfer.h"

namespace capstan::net {
namespace {

constexpr int kEventsAtOnce = 256;

/// If a request on a shared connection times out, the connections that were idle at that time may be dead too. The
/// kernel notices that only with its keep-alive probes. After a time-out, only newer connections are reused.
/// - kOnlyNewFor: no connection is reused for this time after the time-out. libcurl counts idle time in whole seconds,
///   so it could not tell a suspect connection from a newer one.
/// - kSuspectFor: the suspicion ends after this time. By then each suspect connection has been idle for longer than
///   kMaxIdle, and such a connection is never reused.
constexpr Duration kOnlyNewFor = std::chrono::seconds(2);
constexpr Duration kSuspectFor = std::chrono::seconds(120);
constexpr Duration kMaxIdle = kSuspectFor - std::chrono::seconds(2);

/// Initializes libcurl once per process.
void set_up_curl() {
  static const bool done = [] {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && sigaction(SIGPIPE, &ignore, nullptr) == 0;
  }();
  CAPSTAN_ASSERT(done);
}

}  // namespace

class HttpClient::Loop {
 public:
  Loop(Clock clock, Options options);
  ~Loop();
  Loop(const Loop&) = delete;

  RequestId start(Request request, Handler handler);
  void cancel(RequestId id);
  void run_once(Duration max_wait);
  std::size_t in_flight() const { return transfers_.size(); }
  int poll_fd() const { return epoll_; }
  Instant next_deadline() const;

 private:
  static int on_socket(CURL* easy, curl_socket_t socket, int action, void* self, void* known);
  static int on_timer(CURLM* multi, long wait_ms, void* self);

  void add_started();
  void drop_cancelled();
  void collect_done();
  void expire();
  void watch_deadline(CurlTransfer& transfer);
  void end(RequestId id, Failure failure, std::string message);
  void mark_possibly_dead(const CurlTransfer& transfer, Failure failure);
  Duration idle_max(const CurlTransfer& transfer) const;

  Clock clock_;
  Options options_;
  Instant now_;
  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  int timer_ = -1;
  RequestId last_id_ = 0;
  std::map<RequestId, std::unique_ptr<CurlTransfer>> transfers_;
  std::set<std::pair<Instant, RequestId>> deadlines_;
  // libcurl does not allow adding or removing transfers inside its callbacks, so the loop does both later.
  std::vector<RequestId> started_;
  std::vector<std::unique_ptr<CurlTransfer>> cancelled_;
  std::map<std::string, Instant> possibly_dead_;  // origins with suspect connections, with the time of the last timeout
};

HttpClient::Loop::Loop(Clock clock, Options options) : clock_(std::move(clock)), options_(options), now_(clock_()) {
  set_up_curl();
  multi_ = curl_multi_init();
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  CAPSTAN_ASSERT(multi_ != nullptr && epoll_ >= 0 && timer_ >= 0);
  epoll_event event{.events = EPOLLIN, .data = {.fd = timer_}};
  CAPSTAN_ASSERT(epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &event) == 0);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(options_.connections_per_host_max));
  curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(options_.connections_max));
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options_.idle_connections_max));
}

HttpClient::Loop::~Loop() {
  for (auto& [id, transfer] : transfers_) curl_multi_remove_handle(multi_, transfer->easy());
  drop_cancelled();
  transfers_.clear();
  curl_multi_cleanup(multi_);
  close(timer_);
  close(epoll_);
}

RequestId HttpClient::Loop::start(Request request, Handler handler) {
  const RequestId id = ++last_id_;
  now_ = clock_();
  auto transfer = std::make_unique<CurlTransfer>(id, std::move(request), std::move(handler), now_);
  if (transfers_.size() >= options_.requests_max) transfer->refuse("too many requests in flight");
  started_.push_back(id);
  watch_deadline(*transfer);
  transfers_.emplace(id, std::move(transfer));
  return id;
}

void HttpClient::Loop::cancel(RequestId id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  found->second->forget();
  deadlines_.erase({found->second->deadline, id});
  cancelled_.push_back(std::move(found->second));
  transfers_.erase(found);
}

void HttpClient::Loop::run_once(Duration max_wait) {
  add_started();
  drop_cancelled();
  collect_done();  // some transfers fail while they are added
  now_ = clock_();
  Duration wait = std::max(Duration::zero(), max_wait);
  if (!deadlines_.empty()) wait = std::clamp(deadlines_.begin()->first - now_, Duration::zero(), wait);
  const auto wait_ms =
      std::min<std::chrono::milliseconds>(std::chrono::ceil<std::chrono::milliseconds>(wait), std::chrono::hours(1));
  std::array<epoll_event, kEventsAtOnce> events;
  const int count = epoll_wait(epoll_, events.data(), kEventsAtOnce, static_cast<int>(wait_ms.count()));
  now_ = clock_();
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    const std::uint32_t ready = events[static_cast<std::size_t>(i)].events;
    if (fd == timer_) {
      std::uint64_t expirations = 0;
      if (read(timer_, &expirations, sizeof expirations) < 0) continue;  // an earlier event has set the timer again
      curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
    } else {
      const int mask = ((ready & EPOLLIN) ? CURL_CSELECT_IN : 0) | ((ready & EPOLLOUT) ? CURL_CSELECT_OUT : 0) |
                       ((ready & (EPOLLERR | EPOLLHUP)) ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(multi_, fd, mask, &running);
    }
  }
  collect_done();
  expire();
  drop_cancelled();
}

Instant HttpClient::Loop::next_deadline() const {
  if (!started_.empty() || !cancelled_.empty()) return now_;
  return deadlines_.empty() ? Instant::never() : deadlines_.begin()->first;
}

void HttpClient::Loop::add_started() {
  for (const RequestId id : std::exchange(started_, {})) {
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) continue;
    CurlTransfer& transfer = *found->second;
    if (!transfer.set_up(options_.keepalive, idle_max(transfer))) {
      end(id, Failure::refused, transfer.refusal());
    } else {
      CAPSTAN_ASSERT(curl_multi_add_handle(multi_, transfer.easy()) == CURLM_OK);
    }
  }
}

void HttpClient::Loop::drop_cancelled() {
  for (const std::unique_ptr<CurlTransfer>& transfer : std::exchange(cancelled_, {})) {
    curl_multi_remove_handle(multi_, transfer->easy());
  }
}

void HttpClient::Loop::collect_done() {
  int remaining = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &remaining)) {
    if (message->msg != CURLMSG_DONE) continue;
    void* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    const auto& done = *static_cast<const CurlTransfer*>(transfer);
    const CURLcode code = message->data.result;
    end(done.id(), done.failure_of(code), done.message_of(code));
  }
}

void HttpClient::Loop::expire() {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_) {
    const RequestId id = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    CurlTransfer& transfer = *known_row(transfers_, id);
    const Failure failure = transfer.expired(now_);
    if (failure == Failure::none) {
      watch_deadline(transfer);
    } else {
      mark_possibly_dead(transfer, failure);
      end(id, failure, transfer.timeout_message(failure));
    }
  }
}

void HttpClient::Loop::watch_deadline(CurlTransfer& transfer) {
  transfer.deadline = transfer.next_deadline();
  if (!transfer.deadline.is_never()) deadlines_.emplace(transfer.deadline, transfer.id());
}

/// Removes a transfer from the loop and calls its handler.
void HttpClient::Loop::end(RequestId id, Failure failure, std::string message) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;  // it was cancelled while libcurl finished it
  const std::unique_ptr<CurlTransfer> transfer = std::move(found->second);
  transfers_.erase(found);
  deadlines_.erase({transfer->deadline, id});
  curl_multi_remove_handle(multi_, transfer->easy());
  transfer->finish(failure, std::move(message));
}

void HttpClient::Loop::mark_possibly_dead(const CurlTransfer& transfer, Failure failure) {
  if (failure == Failure::connect_timeout || !transfer.origin().starts_with("https")) return;
  std::erase_if(possibly_dead_, [&](const auto& entry) { return entry.second + kSuspectFor <= now_; });
  possibly_dead_[transfer.origin()] = now_;
}

/// Returns the longest idle time of a connection that this transfer may reuse. 0: it needs a new connection.
Duration HttpClient::Loop::idle_max(const CurlTransfer& transfer) const {
  const auto suspected = possibly_dead_.find(transfer.origin());
  if (suspected == possibly_dead_.end() || suspected->second + kSuspectFor <= now_) return kMaxIdle;
  const Duration since = now_ - suspected->second;
  return since < kOnlyNewFor ? Duration::zero() : since - std::chrono::seconds(1);
}

int HttpClient::Loop::on_socket(CURL*, curl_socket_t socket, int action, void* self, void* known) {
  Loop& loop = *static_cast<Loop*>(self);
  if (action == CURL_POLL_REMOVE) {
    epoll_ctl(loop.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    return 0;
  }
  const bool in = action == CURL_POLL_IN || action == CURL_POLL_INOUT;
  const bool out = action == CURL_POLL_OUT || action == CURL_POLL_INOUT;
  epoll_event event{.events = (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u), .data = {.fd = socket}};
  epoll_ctl(loop.epoll_, known != nullptr ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
  curl_multi_assign(loop.multi_, socket, &loop);
  return 0;
}

int HttpClient::Loop::on_timer(CURLM*, long wait_ms, void* self) {
  itimerspec spec{};  // all zero disarms the timer, as a wait of -1 requires
  if (wait_ms == 0) spec.it_value.tv_nsec = 1;
  if (wait_ms > 0) spec.it_value = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1'000'000};
  timerfd_settime(static_cast<Loop*>(self)->timer_, 0, &spec, nullptr);
  return 0;
}

HttpClient::HttpClient(Clock clock, Options options) : loop_(std::make_unique<Loop>(std::move(clock), options)) {}
HttpClient::~HttpClient() = default;
RequestId HttpClient::start(Request request, Handler handler) {
  return loop_->start(std::move(request), std::move(handler));
}
void HttpClient::cancel(RequestId id) { loop_->cancel(id); }
void HttpClient::run_once(Duration max_wait) { loop_->run_once(max_wait); }
std::size_t HttpClient::in_flight() const { return loop_->in_flight(); }
int HttpClient::poll_fd() const { return loop_->poll_fd(); }
Instant HttpClient::next_deadline() const { return loop_->next_deadline(); }

}  // namespace capstan::net
