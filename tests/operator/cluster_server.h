#pragma once

// A cluster for tests of whole processes: an API server in memory, pods that serve pages of metrics, and simulated
// time.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "fake_server.h"
#include "kube/client.h"
#include "objects.h"
#include "operator/loop/process.h"

namespace capstan::op::testing {

using kube::fake::FakeServer;

/// Start of the simulated time: 2026-11-21T16:15:33Z.
inline constexpr std::int64_t kStartS = 1'795'277'733;

/// Routes each request to the API server, its discovery, or a pod.
class ClusterServer final : public net::Transport {
 public:
  explicit ClusterServer(std::uint64_t seed = 1) : api(seed) {}

  net::RequestId start(net::Request request, net::Handler handler) override;
  void cancel(net::RequestId id) override;

  /// Answers pending requests to discovery and to pods.
  void answer();

  Instant now() const { return {std::chrono::seconds(kStartS) + api.now().since_start}; }
  net::Clock clock() const {
    return [this] { return now(); };
  }
  kube::WallClock wall() const {
    return [this] { return kube::WallTime{now().since_start / std::chrono::microseconds(1)}; };
  }

  FakeServer api;
  std::map<std::string, std::string> pages;                 ///< pages by URL; other URLs refuse connections
  std::map<std::string, std::vector<std::string>> served = {///< kinds by group
                                                            {"", {"Pod", "Node"}},
                                                            {"apps", {"Deployment", "StatefulSet"}},
                                                            {"capstan.dev", {"InferenceScaler", "FleetPolicy"}}};

 private:
  struct PendingRequest {
    std::string url;
    net::Handler handler;
  };

  net::Exchange exchange_of(const std::string& url) const;

  Object discovery() const;

  net::RequestId last_id_ = net::RequestId{1} << 60;  // differs from all ids of the API server
  std::map<net::RequestId, PendingRequest> pending_;
};

// Paths of collections.
inline const std::string kScalersPath = "/apis/capstan.dev/v1alpha1/inferencescalers";
inline const std::string kFleetPath = "/apis/capstan.dev/v1alpha1/fleetpolicies";
inline const std::string kDeploymentsPath = "/apis/apps/v1/deployments";
inline const std::string kAutoscalersPath = "/apis/autoscaling/v2/horizontalpodautoscalers";
inline const std::string kEventsPath = "/apis/events.k8s.io/v1/events";
inline const std::string kConfigMapsPath = "/api/v1/configmaps";
inline const std::string kPodsPath = "/api/v1/pods";

inline std::string url_of_pod(int number) { return "http://10.0.0." + std::to_string(number) + ":8000/metrics"; }

/// Returns a metrics page of vLLM.
std::string page(int waiting);
/// Returns a metrics page with everything that policy Capstan reads: requests, KV cache usage and counters of tokens.
std::string page_of_work(int running, std::int64_t prompt_tokens, std::int64_t generated_tokens);

/// Adds a Deployment with `replicas` ready pods at 10.0.0.1 and following, each with a metrics page.
void put_workload(ClusterServer& server, const std::string& name, int replicas, int waiting);

void put_scaler(ClusterServer& server, const std::string& name, const std::string& target,
                const std::function<void(Object&)>& change = {});

/// A client of the cluster in simulated time.
struct ClusterClient {
  ClusterClient(ClusterServer& cluster, std::uint64_t seed);

  kube::Credentials credentials;
  kube::Client client;
};

/// A Capstan process of the cluster.
struct Running {
  Running(ClusterServer& cluster, const std::string& name, ActionExecutor* effects = nullptr);
  ~Running();

  std::vector<LogLine> lines;
  ClusterClient cluster_client;
  Process process;
};

/// Runs a cluster and its processes for a time.
void pass(ClusterServer& server, const std::vector<Running*>& processes, Duration duration);

}  // namespace capstan::op::testing
