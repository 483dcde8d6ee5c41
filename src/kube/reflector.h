#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/time.h"
#include "kube/api_error.h"
#include "kube/backoff.h"

namespace capstan::kube {

/// Keeps a copy of one collection up to date with the API server. It has the rules of listing and watching, but no
/// socket, no clock and no objects. Its inputs are events and times; its outputs are requests and changes of the copy.
///
/// It starts with a watch that first sends all existing objects (watch-list, KEP-3157), or, if the server does not
/// support that, with a list in pages. Then it watches from the resource version of that first read. When a watch ends,
/// the next one starts from the last version seen, including bookmarks (KEP-956). If the server has dropped that
/// version (410, as an answer or as an event), everything is read again. Resource versions are opaque: there is no
/// older or newer. https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
class Reflector {
 public:
  struct Options {
    bool watch_list = true;                                 ///< try watch-list; if false or refused, list in pages
    int page_objects = 500;                                 ///< objects per page of a list
    Duration watch_min = std::chrono::minutes(5);           ///< shortest random timeout of a watch
    Duration watch_max = std::chrono::minutes(10);          ///< longest random timeout of a watch
    Duration initial_events_max = std::chrono::minutes(1);  ///< time limit of a watch-list before lists are used
    /// Longest age of the copy from which a watch is resumed. If the copy is older, everything is read again. A resumed
    /// watch of a quiet collection would send nothing before its first bookmark, so the copy would age further.
    Duration resume_max = std::chrono::minutes(4);
  };

  /// A request to send. The caller cancels the previous request first. Serial numbers only grow.
  struct Call {
    enum class Kind : std::uint8_t { list, watch, watch_list };
    std::uint64_t serial = 0;
    Kind kind = Kind::list;
    std::string resource_version;  ///< version from which a watch starts
    std::string continue_token;    ///< token of the next page of a list
    int page_objects = 0;          ///< objects per page of a list
    Duration timeout{};            ///< timeout of a watch, in whole seconds
  };

  /// Changes to make to the copy.
  struct Step {
    bool begin = false;   ///< start a new copy; the old one stays in use
    bool stage = false;   ///< put the objects into the new copy
    bool apply = false;   ///< apply the object to the copy in use
    bool finish = false;  ///< the new copy is complete and replaces the old one
    bool fresh = false;   ///< the server has just reported its current state
    friend bool operator==(const Step&, const Step&) = default;
  };

  /// The header of a list page.
  struct Page {
    std::string_view resource_version;
    std::string_view continue_token;
  };

  /// An event of a watch without its object.
  struct Event {
    enum class Type : std::uint8_t { added, modified, deleted, bookmark, error };
    Type type = Type::bookmark;
    std::string_view resource_version;
    bool initial_events_end = false;  ///< the bookmark has the annotation k8s.io/initial-events-end
    const ApiError* error = nullptr;  ///< error of an error event
  };

  Reflector(Options options, RandomStream random);

  /// Returns the request to send now, if any.
  std::optional<Call> poll(Instant now);
  /// Returns the time at which `poll` may have a request, if nothing else happens.
  Instant next_deadline() const;

  // These functions report results of the request with this serial. Results of earlier requests are ignored.
  Step page(std::uint64_t serial, const Page& page, Instant now);
  Step event(std::uint64_t serial, const Event& event, Instant now);
  void ended(std::uint64_t serial, Instant now);                          ///< the watch ended normally
  void failed(std::uint64_t serial, const ApiError& error, Instant now);  ///< the request failed; code 0: no answer

  bool synced() const { return synced_; }  ///< true if the copy was ever complete; it may be old
  /// Returns the time at which the server last reported its current state. On a quiet watch, bookmarks do that about
  /// once a minute.
  Instant fresh_at() const { return fresh_at_; }
  const ApiError& last_error() const { return last_error_; }
  int failures() const { return backoff_.failures(); }  ///< consecutive failures
  std::uint64_t relists() const { return relists_; }

 private:
  enum class State : std::uint8_t { waiting, listing, initial_events, watching };

  bool current(std::uint64_t serial) const { return serial == serial_ && state_ != State::waiting; }
  void wait(Instant until);
  void start_over();
  void finished(std::string_view resource_version, Instant now);

  Options options_;
  RandomStream random_;
  Backoff backoff_;
  ApiError last_error_;
  State state_ = State::waiting;
  std::uint64_t serial_ = 0;
  std::uint64_t relists_ = 0;
  std::string resource_version_;  // last version seen
  std::string continue_token_;    // token of the next page
  bool need_all_ = true;          // there is no version to watch from, so everything has to be read
  bool synced_ = false;
  bool version_expired_ = false;  // the server has dropped the last version seen, and no event has arrived since
  bool has_event_ = false;        // the current watch has sent an event
  Instant not_before_;
  Instant call_started_at_;
  Instant fresh_at_;
};

}  // namespace capstan::kube
