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

/// The objects of a live cluster that rules of lint look at, each as a text named KIND/NAMESPACE/NAME: what the cluster
/// itself made, or writes (status, managed fields), is left out. It never waits; whoever owns the sockets calls `turn`.
class ClusterObjects {
 public:
  /// @param ns  of one namespace, and of what stands in none; empty: of all
  ClusterObjects(kube::Client& client, net::Clock clock, std::string ns);
  ~ClusterObjects();
  ClusterObjects(const ClusterObjects&) = delete;

  void turn();
  Instant next_deadline() const;
  bool done() const { return asked_ && call_ == 0 && left_.empty(); }

  std::vector<lint::Text> take_texts() { return std::move(texts_); }
  const std::vector<Error>& refused() const { return refused_; }  ///< kinds that could not be read, and why

 private:
  void choose();
  void ask();
  void answered(const kube::Outcome& outcome);

  kube::Client& client_;
  std::string ns_;
  kube::Discovery discovery_;
  bool asked_ = false;               ///< what is served is known
  std::deque<kube::Resource> left_;  ///< still to be read; of the first one the pages from `continue_` on
  std::string continue_;
  kube::Client::CallId call_ = 0;
  std::vector<lint::Text> texts_;
  std::vector<Error> refused_;
};

/// The objects of one page of a list, and the token of the next; nothing where it is no such page.
struct ObjectPage {
  std::vector<lint::Text> texts;
  std::string next;
};
std::optional<ObjectPage> read_object_page(const std::string& body, const kube::Resource& resource);

}  // namespace capstan::cli
