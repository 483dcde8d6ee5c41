#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "kube/network_views.h"
#include "kube/watcher.h"

namespace capstan::cli {

/// A Service as named on a command line: `[NAMESPACE/]NAME[:PORT]`.
struct ServiceName {
  std::string ns;  ///< empty: that of the kubeconfig
  std::string name;
  std::string port;  ///< a name or a number; empty: the Service's only one
  friend bool operator==(const ServiceName&, const ServiceName&) = default;
};

Result<ServiceName> parse_service_name(const std::string& text);

/// The base URLs of a Service's ready addresses, each once, sorted.
/// @return an error where there are addresses but no port of that name, or several and none was named
Result<std::vector<std::string>> ready_urls(const kube::StoreSnapshot<kube::EndpointSlice>& slices,
                                            const ServiceName& service);

/// Follows a Service's ready addresses through its EndpointSlices, as kube-proxy does.
class ServiceEndpoints {
 public:
  ServiceEndpoints(kube::Client& client, ServiceName service, RandomStream random, net::Clock clock);

  /// Makes the next request where one is due; call it before `Client::turn`.
  void turn() { watcher_.turn(); }
  Instant next_deadline() const { return watcher_.next_deadline(); }

  bool synced() const { return slices_.snapshot().synced; }
  std::string trouble() const;  ///< why it is not synced, as far as the server has said
  /// The ready addresses, where they are others than at the last call.
  Result<std::optional<std::vector<std::string>>> take_change();

 private:
  ServiceName service_;
  kube::JsonDocument document_;
  kube::Store<kube::EndpointSlice> slices_;
  kube::Watcher watcher_;
  std::uint64_t seen_version_ = 0;
  std::vector<std::string> urls_;
};

}  // namespace capstan::cli
