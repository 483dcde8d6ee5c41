#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/time.h"
#include "kube/client.h"
#include "kube/request.h"
#include "kube/wall_time.h"

namespace capstan::kube {

/// The contents of an Event about an object.
struct EventNote {
  std::string api_version;  ///< API version of the object
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  bool warning = false;
  std::string reason;  ///< machine-readable reason such as "QueueAboveTarget"; at most 128 characters
  std::string action;  ///< action such as "ScaleUp"
  std::string note;    ///< text for people; cut at 1024 bytes
};

/// Writes Events (events.k8s.io/v1). The first occurrence becomes an object, and repetitions raise the count of its
/// series. Events beyond the limits are dropped and counted. Nothing waits for Events or depends on them.
class EventRecorder {
 public:
  struct Options {
    std::string controller = "capstan.dev/capstan";
    std::string instance;                              ///< name of this process
    Duration series_period = std::chrono::minutes(1);  ///< shortest time between two updates of a count
    Duration series_window = std::chrono::minutes(6);  ///< time after which a repetition becomes a new Event
    std::size_t series_max = 4'096;
    int in_flight_max = 4;
  };

  struct Outgoing {
    std::uint64_t id = 0;
    ApiRequest request;
  };

  explicit EventRecorder(Options options) : options_(std::move(options)) {}

  void record(const EventNote& note, Instant now, WallTime wall);
  /// Returns the next request to send, if any. Its answer goes to `answered`.
  std::optional<Outgoing> poll(Instant now);
  void answered(std::uint64_t id, const Outcome& outcome, Instant now);
  Instant next_deadline() const;

  std::size_t size() const { return series_.size(); }
  std::uint64_t dropped() const { return dropped_; }  ///< number of dropped Events

 private:
  using Key = std::tuple<std::string, std::string, std::string, bool>;  // uid or name, reason, action, warning

  struct Series {
    EventNote note;
    std::string event_name;
    WallTime first_at;
    WallTime last_at;
    Instant last_event_at;
    Instant not_before;
    std::int64_t count = 1;
    std::int64_t written = 0;  // count that the server has stored
    std::uint64_t in_flight = 0;
    std::int64_t in_flight_count = 0;
    int failures = 0;
  };

  ApiRequest first(const Series& series) const;
  ApiRequest repetition(const Series& series) const;
  ObjectRef place(const Series& series) const;
  void forget_old(Instant now);

  Options options_;
  std::map<Key, Series> series_;
  std::uint64_t last_id_ = 0;
  std::uint64_t dropped_ = 0;
  int in_flight_ = 0;
};

}  // namespace capstan::kube
