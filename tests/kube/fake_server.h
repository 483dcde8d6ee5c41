#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "net/http.h"
#include "net/monotonic.h"

namespace capstan::kube::fake {

using nlohmann::json;

/// Probabilities of faults per request or event, in millionths.
struct Faults {
  std::uint32_t unreachable = 0;      ///< request: the connection is refused
  std::uint32_t busy = 0;             ///< request: 429, with Retry-After or without
  std::uint32_t server_error = 0;     ///< request: 500, 502 or 503, without effect
  std::uint32_t unauthorized = 0;     ///< request: 401
  std::uint32_t answer_lost = 0;      ///< request: takes effect, but the connection ends before the answer
  std::uint32_t gateway_timeout = 0;  ///< request: takes effect, but the answer is 504
  std::uint32_t half_open = 0;        ///< request or event: nothing more is sent
  std::uint32_t gone = 0;             ///< list or watch: 410 as an answer
  std::uint32_t gone_in_stream = 0;   ///< event: 410 as an ERROR event instead
  std::uint32_t cut = 0;              ///< event: the connection ends, possibly within the line
  std::uint32_t ended = 0;            ///< event: the stream ends normally before the event
  std::uint32_t duplicate = 0;        ///< event: is sent twice
  std::uint32_t garbage = 0;          ///< event: an invalid line is sent instead
  Duration delay_max{};               ///< longest delay of everything that is sent; exchanges may overtake each other

  static Faults all(std::uint32_t ppm);
};

/// An API server in memory and in simulated time, with the interface of an HTTP client. It records all requests and all
/// changes in their order. Its resource versions are texts that cannot be compared.
class FakeServer : public net::Transport {
 public:
  enum class WatchList : std::uint8_t { served, refused, ignored };

  struct Event {
    std::string type;
    std::string collection;
    std::string key;
    json object;
  };

  explicit FakeServer(std::uint64_t seed) : random_(seed, "fake server") {}

  // These functions implement Transport.
  net::RequestId start(net::Request request, net::Handler handler) override;
  void cancel(net::RequestId id) override { exchanges_.erase(id); }

  // These functions read and advance the simulated time.
  Instant now() const { return now_; }
  net::Clock clock() {
    return [this] { return now_; };
  }
  /// Advances the time and calls handlers on the way. `each_step` is called after each delivery and at the end.
  void advance(Duration duration, const std::function<void()>& each_step);

  // These functions read and write objects as other clients would. The name of a collection is its path, such as
  // "/api/v1/pods".
  void put(const std::string& collection, const std::string& ns, const std::string& name, json fields);
  void remove(const std::string& collection, const std::string& key);
  const std::map<std::string, json>& objects(const std::string& collection) { return collections_[collection]; }
  const std::vector<Event>& history() const { return history_; }  ///< event n created resource version n + 1
  std::optional<std::size_t> position(std::string_view resource_version) const;

  void compact() { compacted_ = history_.size(); }  ///< drops all versions except the current one
  void drop_all();                                  ///< ends all open exchanges

  Faults faults;
  WatchList watch_list = WatchList::served;
  int page_max = 1'000'000;
  Duration bookmark_period = std::chrono::seconds(60);
  std::string forbidden;        ///< collection that no client may read, or empty
  std::string token = "token";  ///< expected bearer token; empty: any

  /// A write that arrived without a fault.
  struct Write {
    std::string method;
    std::string collection;
    std::string key;
    std::string subresource;
    bool apply = false;  ///< server-side apply
    json body;
  };
  /// Handles special writes, mostly of subresources. Returns a status and a body, or nothing to store the object.
  std::function<std::optional<std::pair<int, json>>(const Write&)> acts;

  struct Seen {
    Instant at;
    std::string method;
    std::string path;
    int status = 0;  ///< status of the answer; 0: a fault prevented any answer
  };
  std::vector<Seen> seen;

 private:
  struct Exchange {
    net::Request request;
    net::Handler handler;
    Instant last_sent;  // arrival time of the last sent data, which new data must not overtake
    bool watching = false;
    bool silent = false;
    std::string collection;
    std::string ns;
    std::size_t next_event = 0;
    Instant next_bookmark;
    Instant ends_at;
    bool timed = false;
  };
  struct Answer {
    int status = 200;
    json body;
    std::vector<net::Header> headers;
  };
  struct Target;

  void at(net::RequestId id, Instant when, std::function<void(Exchange&)> deliver);
  Instant arrival(Exchange& exchange);
  bool chance(std::uint32_t ppm) { return ppm > 0 && random_.chance_ppm(ppm); }
  void serve(net::RequestId id);
  bool fail_before(net::RequestId id, Exchange& exchange);
  void reply(net::RequestId id, Answer answer);
  void end(net::RequestId id, net::Failure failure, bool sent);
  Answer answer_of(const net::Request& request);
  Answer read(const Target& target);
  Answer list(const Target& target);
  Answer write(const Target& target, const net::Request& request);
  void open_watch(net::RequestId id, const Target& target);
  void pump(net::RequestId id);
  void pump_all();
  bool send_event(net::RequestId id, const std::string& line);
  void send_line(net::RequestId id, std::string line);
  void send_piece(net::RequestId id, std::string piece);
  void go_silent(net::RequestId id);
  json record(const std::string& type, const std::string& collection, const std::string& key, json object);
  std::string version_text(std::size_t position) const;

  RandomStream random_;
  Instant now_;
  net::RequestId last_id_ = 0;
  std::uint64_t last_delivery_ = 0;
  std::uint64_t last_uid_ = 0;
  std::map<net::RequestId, Exchange> exchanges_;
  std::map<std::pair<Instant, std::uint64_t>, std::pair<net::RequestId, std::function<void(Exchange&)>>> deliveries_;
  std::map<std::string, std::map<std::string, json>> collections_;
  std::vector<Event> history_;
  std::size_t compacted_ = 0;
  struct Pages {
    std::size_t position;
    std::map<std::string, json> rest;
  };
  std::map<std::string, Pages> pages_;
};

}  // namespace capstan::kube::fake
