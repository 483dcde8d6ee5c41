#pragma once

// A cluster for whole processes: an API server in memory, pods that answer with pages of metrics, and simulated time.

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
#include "operator/process.h"

namespace capstan::op::testing {

using kube::fake::FakeServer;

/// 2026-11-21T16:15:33Z
inline constexpr std::int64_t kStartS = 1'795'277'733;

/// Takes each request to whom it is for: the API server, its discovery, or a pod.
class ClusterServer final : public net::Transport {
 public:
  explicit ClusterServer(std::uint64_t seed = 1) : api(seed) {}

  net::RequestId start(net::Request request, net::Handler handler) override;
  void cancel(net::RequestId id) override;

  /// Answers what is not for the API server.
  void answer();

  Instant now() const { return {std::chrono::seconds(kStartS) + api.now().since_start}; }
  net::Clock clock() const {
    return [this] { return now(); };
  }
  kube::WallClock wall() const {
    return [this] { return kube::WallTime{now().since_start / std::chrono::microseconds(1)}; };
  }

  FakeServer api;
  std::map<std::string, std::string> pages;                 ///< by URL; nobody listens elsewhere
  std::map<std::string, std::vector<std::string>> served = {///< kinds by group, those with /scale
                                                            {"", {"Pod", "Node"}},
                                                            {"apps", {"Deployment", "StatefulSet"}},
                                                            {"capstan.dev", {"InferenceScaler", "FleetPolicy"}}};

 private:
  struct Asked {
    std::string url;
    net::Handler handler;
  };

  net::Exchange exchange_of(const std::string& url) const;

  Object discovery() const;

  net::RequestId last_id_ = net::RequestId{1} << 60;  // apart from the API server's
  std::map<net::RequestId, Asked> waiting_;
};

// Collections.
inline const std::string kScalersPath = "/apis/capstan.dev/v1alpha1/inferencescalers";
inline const std::string kFleetPath = "/apis/capstan.dev/v1alpha1/fleetpolicies";
inline const std::string kDeploymentsPath = "/apis/apps/v1/deployments";
inline const std::string kAutoscalersPath = "/apis/autoscaling/v2/horizontalpodautoscalers";
inline const std::string kEventsPath = "/apis/events.k8s.io/v1/events";
inline const std::string kConfigMapsPath = "/api/v1/configmaps";
inline const std::string kPodsPath = "/api/v1/pods";

inline std::string url_of_pod(int number) { return "http://10.0.0." + std::to_string(number) + ":8000/metrics"; }

/// A page of vLLM's.
std::string page(int waiting);
/// One with everything that Capstan's own policy reads: so many requests run, and so many tokens came out of it.
std::string page_of_work(int running, std::int64_t prompt_tokens, std::int64_t generated_tokens);

/// A Deployment `name` with so many pods that serve, 10.0.0.1 and on, each with a page.
void put_workload(ClusterServer& server, const std::string& name, int replicas, int waiting);

void put_scaler(ClusterServer& server, const std::string& name, const std::string& target,
                const std::function<void(Object&)>& change = {});

/// A client of the cluster in simulated time.
struct Side {
  Side(ClusterServer& cluster, std::uint64_t seed);

  kube::Credentials credentials;
  kube::Client client;
};

/// A process of it.
struct Running {
  Running(ClusterServer& cluster, const std::string& name, Effects* effects = nullptr);
  ~Running();

  std::vector<LogLine> lines;
  Side side;
  Process process;
};

/// Lets time pass for a cluster and the processes on it.
void pass(ClusterServer& server, const std::vector<Running*>& processes, Duration duration);

}  // namespace capstan::op::testing
