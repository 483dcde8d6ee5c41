#include "cluster_server.h"

namespace capstan::op::testing {

net::RequestId ClusterServer::start(net::Request request, net::Handler handler) {
  const std::string& url = request.url;
  const bool discovery = url == "https://fake/api" || url == "https://fake/apis";
  if (!discovery && url.starts_with("https://fake")) return api.start(std::move(request), std::move(handler));
  const net::RequestId id = ++last_id_;
  pending_[id] = {url, std::move(handler)};
  return id;
}

void ClusterServer::cancel(net::RequestId id) {
  pending_.erase(id);
  api.cancel(id);
}

void ClusterServer::answer() {
  // An answer may start new requests. They are answered in the next call.
  const net::RequestId last = last_id_;
  while (!pending_.empty() && pending_.begin()->first <= last) {
    const PendingRequest request = std::move(pending_.extract(pending_.begin()).mapped());
    request.handler.on_done(exchange_of(request.url));
  }
}

net::Exchange ClusterServer::exchange_of(const std::string& url) const {
  net::Exchange exchange;
  const auto page = pages.find(url);
  if (url.starts_with("https://fake")) {
    exchange.response = {200, {}, discovery().dump()};
  } else if (page != pages.end()) {
    exchange.response = {200, {{"Content-Type", "text/plain; version=0.0.4"}}, page->second};
  } else {
    exchange.failure = net::Failure::connect;
    exchange.message = "connection refused";
  }
  return exchange;
}

Object ClusterServer::discovery() const {
  Object items = Object::array();
  for (const auto& [group, kinds] : served) {
    Object resources = Object::array();
    for (const std::string& kind : kinds) {
      Object resource = {{"resource", kind}, {"responseKind", {{"kind", kind}}}, {"scope", "Namespaced"}};
      if (group == "apps" || group == "example.com") resource["subresources"] = {{{"subresource", "scale"}}};
      resources.push_back(resource);
    }
    items.push_back({{"metadata", {{"name", group}}}, {"versions", {{{"version", "v1"}, {"resources", resources}}}}});
  }
  return {{"kind", "APIGroupDiscoveryList"}, {"items", items}};
}

ClusterClient::ClusterClient(ClusterServer& cluster, std::uint64_t seed)
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

Running::Running(ClusterServer& cluster, const std::string& name, ActionExecutor* effects)
    : cluster_client(cluster, hash_text(name)),
      process({.transport = cluster,
               .client = cluster_client.client,
               .clock = cluster.clock(),
               .wall = cluster.wall(),
               .random = RandomStream(hash_text(name), "process"),
               .effects = effects},
              {.ns = "capstan", .identity = name}, [this](const LogLine& line) { lines.push_back(line); }) {}

Running::~Running() = default;

std::string page(int waiting) {
  return "vllm:num_requests_waiting{model_name=\"llama\"} " + std::to_string(waiting) +
         "\nvllm:num_requests_running{model_name=\"llama\"} 1\n";
}

std::string page_of_work(int running, std::int64_t prompt_tokens, std::int64_t generated_tokens) {
  std::string text;
  const auto line = [&](const char* metric, const std::string& value) {
    text += std::string("vllm:") + metric + "{model_name=\"llama\"} " + value + "\n";
  };
  line("num_requests_waiting", "0");
  line("num_requests_running", std::to_string(running));
  line("kv_cache_usage_perc", std::to_string(running * 0.002));
  line("prompt_tokens_total", std::to_string(prompt_tokens));
  line("generation_tokens_total", std::to_string(generated_tokens));
  return text;
}

void put_workload(ClusterServer& server, const std::string& name, int replicas, int waiting) {
  server.api.put(kDeploymentsPath, "ns", name, deployment(name, replicas));
  for (int i = 1; i <= replicas; ++i) {
    const std::string pod_name = name + "-" + std::to_string(i);
    Object object = pod(pod_name, name, "n1", true);
    object["status"]["podIP"] = "10.0.0." + std::to_string(i);
    server.api.put(kPodsPath, "ns", pod_name, object);
    server.pages[url_of_pod(i)] = page(waiting);
  }
}

void put_scaler(ClusterServer& server, const std::string& name, const std::string& target,
                const std::function<void(Object&)>& change) {
  Object object = scaler(name, target);
  object["metadata"]["generation"] = 1;
  object["spec"]["signals"] = {{"interval", "5s"}};
  if (change) change(object);
  server.api.put(kScalersPath, "ns", name, object);
}

void pass(ClusterServer& server, const std::vector<Running*>& processes, Duration duration) {
  constexpr Duration kStep = std::chrono::milliseconds(100);
  for (Duration passed{}; passed < duration; passed += kStep) {
    server.api.advance(kStep, [&] {
      server.answer();
      for (Running* running : processes) running->process.run_once();
    });
  }
}

}  // namespace capstan::op::testing
