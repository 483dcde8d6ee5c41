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

/// Follows one collection into a sink: carries out what its `Reflector` asks for with a `Client`.
class Watcher {
 public:
  /// Totals since the start.
  struct Counters {
    std::uint64_t events = 0;    ///< that belonged to the watch in use, bookmarks included
    std::uint64_t rejected = 0;  ///< objects without a name, lines that are no event
  };

  /// @param ns        empty: all namespaces
  /// @param document  used for each answer in turn; may be shared by all watchers of a thread
  Watcher(Client& client, JsonDocument& document, Resource resource, std::string ns, Sink& sink,
          Reflector::Options options, RandomStream random, net::Clock clock);
  ~Watcher();
  Watcher(const Watcher&) = delete;

  /// Makes the next request where one is due. Call it before `Client::turn`, which sends it.
  void turn();
  Instant next_deadline() const { return reflector_.next_deadline(); }

  const Reflector& reflector() const { return reflector_; }
  const Resource& resource() const { return resource_; }
  const Counters& counters() const { return counters_; }

 private:
  void listed(std::uint64_t serial, const Outcome& outcome);
  bool heard(std::uint64_t serial, std::string_view line);
  void put(const Reflector::Step& step, Reflector::Event::Type type, Json object);
  void broken(std::uint64_t serial, std::string message);

  Client& client_;
  JsonDocument& document_;
  Resource resource_;
  std::string ns_;
  Sink& sink_;
  Reflector reflector_;
  net::Clock clock_;
  Counters counters_;
  Client::CallId call_ = 0;
};

}  // namespace capstan::kube
