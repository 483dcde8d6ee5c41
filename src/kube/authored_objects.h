#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace capstan::kube {

/// An object of a cluster as its author may have written it: without the parts that the cluster writes, such as its
/// status and its managed fields.
struct AuthoredObject {
  std::string name;  ///< KIND/NAMESPACE/NAME, or KIND/NAME for a cluster-scoped object
  std::string text;  ///< the object as JSON
};

/// Reads the objects of some kinds from a live cluster. Objects that a controller created are left out. Never waits:
/// the owner of the sockets calls `run_once`.
class AuthoredObjects {
 public:
  /// @param kinds  the kinds to read, in the version that the server prefers
  /// @param ns     the namespace to read, together with the cluster-scoped objects; empty: all namespaces
  AuthoredObjects(Client& client, net::Clock clock, std::set<std::string, std::less<>> kinds, std::string ns);
  ~AuthoredObjects();
  AuthoredObjects(const AuthoredObjects&) = delete;

  /// Starts the next request if one is due.
  void run_once();
  Instant next_deadline() const;
  bool done() const { return discovered_ && call_ == 0 && left_.empty(); }

  std::vector<AuthoredObject> take_objects() { return std::move(objects_); }
  const std::vector<Error>& refused() const { return refused_; }  ///< an error for each kind that could not be read

 private:
  void choose();
  void ask();
  void answered(const Outcome& outcome);

  Client& client_;
  std::set<std::string, std::less<>> kinds_;
  std::string ns_;
  Discovery discovery_;
  bool discovered_ = false;    ///< discovery has ended, with or without an error
  std::deque<Resource> left_;  ///< kinds still to read; the first one continues at `continue_`
  std::string continue_;
  Client::CallId call_ = 0;
  std::vector<AuthoredObject> objects_;
  std::vector<Error> refused_;
};

/// One page of a list of objects.
struct AuthoredPage {
  std::vector<AuthoredObject> objects;
  std::string next;  ///< continue token of the next page; empty: this is the last page
};
/// Returns the page, or nothing if `body` is not a page of a list.
std::optional<AuthoredPage> read_authored_page(const std::string& body, const Resource& resource);

}  // namespace capstan::kube
