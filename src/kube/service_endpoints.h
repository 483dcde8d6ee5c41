#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "kube/network_views.h"
#include "kube/watcher.h"

namespace capstan::kube {

/// A Service as a user names it: `[NAMESPACE/]NAME[:PORT]`.
struct ServiceName {
  std::string ns;  ///< namespace of the Service; empty: that of the kubeconfig
  std::string name;
  std::string port;  ///< name or number of the port; empty: the Service's only port
  friend bool operator==(const ServiceName&, const ServiceName&) = default;
};

/// Parses `[NAMESPACE/]NAME[:PORT]`. An error does not say where the text is from; the caller adds that.
Result<ServiceName> parse_service_name(const std::string& text);

/// Returns the base URLs of a Service's ready addresses, sorted and without duplicates.
/// @return an error if there are addresses but not the named port, or if there are several ports and none is named
Result<std::vector<std::string>> ready_urls(const StoreSnapshot<EndpointSlice>& slices, const ServiceName& service);

/// Follows a Service's ready addresses through its EndpointSlices, as kube-proxy does.
class ServiceEndpoints {
 public:
  ServiceEndpoints(Client& client, ServiceName service, RandomStream random, net::Clock clock);

  /// Starts the next request if one is due; call it before `Client::run_once`.
  void run_once() { watcher_.run_once(); }
  Instant next_deadline() const { return watcher_.next_deadline(); }

  bool synced() const { return slices_.snapshot().synced; }
  std::string sync_problem() const;  ///< text of the last error, or that no answer has arrived yet
  /// Returns the base URLs if they have changed since the previous call.
  Result<std::optional<std::vector<std::string>>> take_change();

 private:
  ServiceName service_;
  JsonDocument document_;
  Store<EndpointSlice> slices_;
  Watcher watcher_;
  std::uint64_t seen_version_ = 0;
  std::vector<std::string> urls_;
};

}  // namespace capstan::kube
