#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "kube/client.h"
#include "kube/reflector.h"
#include "kube/resource.h"
#include "kube/store.h"
#include "net/monotonic.h"

namespace capstan::kube {

/// The objects of one kind in one namespace or in all namespaces.
struct Collection {
  Resource resource;
  std::string ns{};  ///< empty: all namespaces
};

/// Copies one collection into a sink. It sends the requests of its `Reflector` with a `Client`.
class Watcher {
 public:
  /// Totals since the start.
  struct Counters {
    std::uint64_t events = 0;    ///< accepted events, including bookmarks; events of a superseded watch are ignored
    std::uint64_t rejected = 0;  ///< objects without a name, lines that are not events, and lists that cannot be read
  };

  /// @param document  parser for all answers; all watchers of a thread may share one
  Watcher(Client& client, JsonDocument& document, Collection collection, Sink& sink, Reflector::Options options,
          RandomStream random, net::Clock clock);
  ~Watcher();
  Watcher(const Watcher&) = delete;

  /// Makes the next request if one is due. Call it before `Client::run_once`, which sends it.
  void run_once();
  Instant next_deadline() const { return reflector_.next_deadline(); }

  const Reflector& reflector() const { return reflector_; }
  const Resource& resource() const { return collection_.resource; }
  const Counters& counters() const { return counters_; }

 private:
  void listed(std::uint64_t serial, const Outcome& outcome);
  bool handle_line(std::uint64_t serial, std::string_view line);
  void put(const Reflector::Step& step, Reflector::Event::Type type, Json object);
  void broken(std::uint64_t serial, std::string message);

  Client& client_;
  JsonDocument& document_;
  Collection collection_;
  Sink& sink_;
  Reflector reflector_;
  net::Clock clock_;
  Counters counters_;
  Client::CallId call_ = 0;
};

}  // namespace capstan::kube
