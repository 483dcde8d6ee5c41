#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "lint/run.h"

namespace capstan::cli {

/// Reads the objects of a live cluster that lint rules check. Each becomes a text named KIND/NAMESPACE/NAME, without
/// the parts that the cluster writes (status, managed fields). Objects that a controller created are left out. Never
/// waits: the owner of the sockets calls `turn`.
class ClusterObjects {
 public:
  /// @param ns  the namespace to read, together with the cluster-scoped objects; empty: all namespaces
  ClusterObjects(kube::Client& client, net::Clock clock, std::string ns);
  ~ClusterObjects();
  ClusterObjects(const ClusterObjects&) = delete;

  /// Starts the next request if one is due.
  void turn();
  Instant next_deadline() const;
  bool done() const { return discovered_ && call_ == 0 && left_.empty(); }

  std::vector<lint::Text> take_texts() { return std::move(texts_); }
  const std::vector<Error>& refused() const { return refused_; }  ///< an error for each kind that could not be read

 private:
  void choose();
  void ask();
  void answered(const kube::Outcome& outcome);

  kube::Client& client_;
  std::string ns_;
  kube::Discovery discovery_;
  bool discovered_ = false;          ///< discovery has ended, with or without an error
  std::deque<kube::Resource> left_;  ///< kinds still to read; the first one continues at `continue_`
  std::string continue_;
  kube::Client::CallId call_ = 0;
  std::vector<lint::Text> texts_;
  std::vector<Error> refused_;
};

/// One page of a list of objects.
struct ObjectPage {
  std::vector<lint::Text> texts;
  std::string next;  ///< continue token of the next page; empty: this is the last page
};
/// Returns the page, or nothing if `body` is not a page of a list.
std::optional<ObjectPage> read_object_page(const std::string& body, const kube::Resource& resource);

}  // namespace capstan::cli
