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

/// Keeps a copy of one collection in step with the API server: the rules of listing and watching, without a socket, a
/// clock or an object in them. Events and time go in; the request to make comes out, and what to do with the copy.
///
/// The life of it: a watch that begins with all that exists (watch-list, KEP-3157) or, where the server has none, a
/// list in pages; then a watch from the resource version where that ended; when it ends, another from the last version
/// seen, bookmarks included (KEP-956); and all from the start when the server has forgotten that version (410, as an
/// answer or as an event). Resource versions are opaque: they are handed back, never compared.
/// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
class Reflector {
 public:
  struct Options {
    bool watch_list = true;                                 ///< try it; without, or where refused: list in pages
    int page_objects = 500;                                 ///< a list's `limit`
    Duration watch_min = std::chrono::minutes(5);           ///< a watch's `timeoutSeconds` is drawn from here
    Duration watch_max = std::chrono::minutes(10);          ///< to here
    Duration initial_events_max = std::chrono::minutes(1);  ///< a watch-list not finished by then is given up for lists
    /// Who has heard nothing for longer reads all anew where he would go on watching: of a quiet kind a watch tells
    /// nothing before its first bookmark, and until then its age would go on growing.
    Duration resume_max = std::chrono::minutes(4);
  };

  /// A request to make. It replaces the one before, which is to be cancelled; serials only grow.
  struct Call {
    enum class Kind : std::uint8_t { list, watch, watch_list };
    std::uint64_t serial = 0;
    Kind kind = Kind::list;
    std::string resource_version;  ///< watch: from here
    std::string continue_token;    ///< list: the next page
    int page_objects = 0;          ///< list
    Duration timeout{};            ///< watch: whole seconds
  };

  /// What to do with the copy.
  struct Step {
    bool begin = false;   ///< start a new copy beside the old one
    bool stage = false;   ///< the objects belong into the new copy
    bool apply = false;   ///< the object changes the copy in use
    bool finish = false;  ///< the new copy is whole: it replaces the old one
    bool fresh = false;   ///< the server has just told of its present state
    friend bool operator==(const Step&, const Step&) = default;
  };

  /// The head of a list's page.
  struct Page {
    std::string_view resource_version;
    std::string_view continue_token;
  };

  /// What an event of a watch says, its object apart.
  struct Event {
    enum class Type : std::uint8_t { added, modified, deleted, bookmark, error };
    Type type = Type::bookmark;
    std::string_view resource_version;
    bool initial_events_end = false;  ///< the bookmark's annotation k8s.io/initial-events-end
    const ApiError* error = nullptr;  ///< of an error event
  };

  Reflector(Options options, RandomStream random);

  /// The request to make now, if there is one.
  std::optional<Call> poll(Instant now);
  /// When `poll` may have something to say, if nothing else happens.
  Instant next_deadline() const;

  // What happened to the request of that serial. What belongs to an earlier one is ignored.
  Step page(std::uint64_t serial, const Page& page, Instant now);
  Step event(std::uint64_t serial, const Event& event, Instant now);
  void ended(std::uint64_t serial, Instant now);                          ///< the watch, in good order
  void failed(std::uint64_t serial, const ApiError& error, Instant now);  ///< code 0: there was no answer

  bool synced() const { return synced_; }  ///< the copy was whole once; it may be behind
  /// When the server last told of its present state; on a quiet watch that is its bookmark, about once a minute.
  Instant told_at() const { return told_at_; }
  const ApiError& last_error() const { return last_error_; }
  int failures() const { return backoff_.failures(); }  ///< in a row
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
  std::string resource_version_;  // of the last thing seen
  std::string continue_token_;    // of the page to ask for next
  bool need_all_ = true;          // nothing to watch from
  bool synced_ = false;
  bool expired_ = false;  // since the last watch that told something
  bool heard_ = false;    // from the watch that runs
  Instant not_before_;
  Instant call_started_at_;
  Instant told_at_;
};

}  // namespace capstan::kube
