#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/api_error.h"
#include "kube/client.h"
#include "kube/resource.h"
#include "net/monotonic.h"

namespace capstan::kube {

/// A resource that the server serves, in one version.
struct ServedResource {
  Resource resource;
  std::vector<std::string> subresources;  ///< "status", "scale" …, sorted
  friend bool operator==(const ServedResource&, const ServedResource&) = default;

  bool has_subresource(std::string_view name) const;
};

/// The resources that a server serves. The preferred version of a resource comes first.
class ServedResources {
 public:
  void add(ServedResource served) { all_.push_back(std::move(served)); }

  const ServedResource* find_plural(std::string_view group, std::string_view plural) const;
  const ServedResource* find_kind(std::string_view group, std::string_view kind) const;
  const ServedResource* find_exact(const Resource& resource) const;  ///< finds only this version

  const std::vector<ServedResource>& all() const { return all_; }
  void append(const ServedResources& more) { all_.insert(all_.end(), more.all_.begin(), more.all_.end()); }
  friend bool operator==(const ServedResources&, const ServedResources&) = default;

 private:
  std::vector<ServedResource> all_;
};

/// Reads an APIGroupDiscoveryList, which has everything in one answer (Kubernetes 1.26 and later).
ServedResources read_aggregated_discovery(Json list);
/// Reads an APIResourceList, which has one version of one group.
ServedResources read_resource_list(Json list);
/// Returns the paths of the versions in an APIVersions or APIGroupList object; the preferred version of a group is
/// first.
std::vector<std::string> read_version_paths(Json list);

/// Finds out which resources a server serves: at the start, once an hour, and after `refresh`. Features are detected by
/// their resources, never by the version of the server. If discovery fails, the old result stays in use.
class Discovery {
 public:
  static constexpr Duration kPeriod = std::chrono::hours(1);
  static constexpr Duration kRetryAfter = std::chrono::seconds(3);

  Discovery(Client& client, net::Clock clock) : client_(client), clock_(std::move(clock)) {}
  ~Discovery() { client_.cancel(call_); }
  Discovery(const Discovery&) = delete;

  void run_once();
  Instant next_deadline() const { return call_ == 0 ? next_ : Instant::never(); }
  void refresh() { next_ = {}; }

  bool known() const { return known_; }
  const ServedResources& served() const { return served_; }
  const std::optional<ApiError>& error() const { return error_; }

 private:
  void ask();
  void answered(const std::string& path, const Outcome& outcome);

  Client& client_;
  net::Clock clock_;
  Instant next_{};
  Client::CallId call_ = 0;
  std::vector<std::string> paths_;  // paths still to read; the last one is next
  ServedResources gathered_;
  ServedResources served_;
  bool known_ = false;
  std::optional<ApiError> error_;
};

}  // namespace capstan::kube
