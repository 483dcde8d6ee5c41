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

  net::RequestId start(net::Request request, net::Handler handler) override {
    const std::string& url = request.url;
    const bool discovery = url == "https://fake/api" || url == "https://fake/apis";
    if (!discovery && url.starts_with("https://fake")) return api.start(std::move(request), std::move(handler));
    const net::RequestId id = ++last_id_;
    waiting_[id] = {url, std::move(handler)};
    return id;
  }
  void cancel(net::RequestId id) override {
    waiting_.erase(id);
    api.cancel(id);
  }

  /// Answers what is not for the API server.
  void answer() {
    const net::RequestId last = last_id_;  // what an answer asks for is answered the next time
    while (!waiting_.empty() && waiting_.begin()->first <= last) {
      const Asked asked = std::move(waiting_.extract(waiting_.begin()).mapped());
      asked.handler.on_done(exchange_of(asked.url));
    }
  }

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

  net::Exchange exchange_of(const std::string& url) const {
    net::Exchange exchange;
    const auto page = pages.find(url);
    if (url.starts_with("https://fake")) {
      exchange.response = {200, {}, discovery().dump()};
    } else if (page != pages.end()) {
      exchange.response = {200, {{"Content-Type", "text/plain; version=0.0.4"}}, page->second};
    } else {
      exchange.failure = net::Failure::connect;
      exchange.message = "nobody listens";
    }
    return exchange;
  }

  Object discovery() const {
    Object items = Object::array();
    for (const auto& [group, kinds] : served) {
      Object resources = Object::array();
      for (const std::string& kind : kinds) {
        Object resource = {{"resource", kind}, {"responseKind", {{"kind", kind}}}, {"scope", "Namespaced"}};
        if (group == "apps") resource["subresources"] = {{{"subresource", "scale"}}};
        resources.push_back(resource);
      }
      items.push_back({{"metadata", {{"name", group}}}, {"versions", {{{"version", "v1"}, {"resources", resources}}}}});
    }
    return {{"kind", "APIGroupDiscoveryList"}, {"items", items}};
  }

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
inline std::string page(int waiting) {
  return "vllm:num_requests_waiting{model_name=\"llama\"} " + std::to_string(waiting) +
         "\nvllm:num_requests_running{model_name=\"llama\"} 1\n";
}

/// A Deployment `name` with so many pods that serve, 10.0.0.1 and on, each with a page.
inline void put_workload(ClusterServer& server, const std::string& name, int replicas, int waiting) {
  server.api.put(kDeploymentsPath, "ns", name, deployment(name, replicas));
  for (int i = 1; i <= replicas; ++i) {
    const std::string pod_name = name + "-" + std::to_string(i);
    Object object = pod(pod_name, name, "n1", true);
    object["status"]["podIP"] = "10.0.0." + std::to_string(i);
    server.api.put(kPodsPath, "ns", pod_name, object);
    server.pages[url_of_pod(i)] = page(waiting);
  }
}

inline void put_scaler(ClusterServer& server, const std::string& name, const std::string& target,
                       const std::function<void(Object&)>& change = {}) {
  Object object = scaler(name, target);
  object["metadata"]["generation"] = 1;
  object["spec"]["signals"] = {{"interval", "5s"}};
  if (change) change(object);
  server.api.put(kScalersPath, "ns", name, object);
}

/// A client of the cluster in simulated time.
struct Side {
  Side(ClusterServer& cluster, std::uint64_t seed)
      : credentials(
            [] {
              kube::Config config;
              config.server = "https://fake";
              config.token = "token";
              return config;
            }(),
            [](const std::string& path) -> Result<std::string> {
              return std::unexpected(Error{.file = path, .message = "cannot be read"});
            },
            nullptr, cluster.wall()),
        client(cluster, credentials, cluster.clock(), RandomStream(seed, "client"), kube::Client::Options()) {}

  kube::Credentials credentials;
  kube::Client client;
};

/// A process of it.
struct Running {
  Running(ClusterServer& cluster, const std::string& name, Effects* effects = nullptr)
      : side(cluster, hash_text(name)),
        process({.transport = cluster,
                 .client = side.client,
                 .clock = cluster.clock(),
                 .wall = cluster.wall(),
                 .random = RandomStream(hash_text(name), "process"),
                 .effects = effects},
                {.ns = "capstan", .identity = name}, [this](const LogLine& line) { lines.push_back(line); }) {}

  std::vector<LogLine> lines;
  Side side;
  Process process;
};

/// Lets time pass for a cluster and the processes on it.
inline void pass(ClusterServer& server, const std::vector<Running*>& processes, Duration duration) {
  constexpr Duration kStep = std::chrono::milliseconds(100);
  for (Duration passed{}; passed < duration; passed += kStep) {
    server.api.advance(kStep, [&] {
      server.answer();
      for (Running* each : processes) each->process.turn();
    });
  }
}

}  // namespace capstan::op::testing
