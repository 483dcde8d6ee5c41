// `capstan engine load --service` with an API server in memory: the load follows the ready addresses of the Service.
#include <gtest/gtest.h>

#include <set>

#include "bench.h"
#include "emulator/load_driver.h"
#include "kube/service_endpoints.h"
#include "workload/list_source.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;
using kube::fake::json;

const std::string kSlices = "/apis/discovery.k8s.io/v1/endpointslices";

/// Records the base URLs of requests and answers none.
class UrlRecorder : public net::Transport {
 public:
  net::RequestId start(net::Request request, net::Handler) override {
    urls.insert(request.url.substr(0, request.url.find("/v1")));
    return ++last_;
  }
  void cancel(net::RequestId) override {}

  std::set<std::string> urls;

 private:
  net::RequestId last_ = 0;
};

workload::ListSource ten_per_second() {
  std::vector<workload::Request> requests;
  for (int i = 0; i < 10'000; ++i) {
    requests.push_back({.arrival = Instant{100ms * i}, .input_tokens = 1, .output_tokens = 1});
  }
  return workload::ListSource(std::move(requests));
}

/// A load that follows the Service llm/engine.
struct Load {
  explicit Load(std::uint64_t seed)
      : bench(seed),
        endpoints(bench.client, {"llm", "engine", "http"}, RandomStream(seed, "endpoints"), bench.server.clock()),
        source(ten_per_second()),
        driver({.endpoints = {}, .model = {}}, source, recorder, bench.server.clock()) {}

  void slice(const std::string& name, const json& addresses, const std::string& service = "engine") {
    json list = json::array();
    for (const auto& [address, ready] : addresses.items()) {
      list.push_back({{"addresses", {address}}, {"conditions", {{"ready", ready}}}});
    }
    bench.server.put(kSlices, "llm", name,
                     {{"metadata", {{"labels", {{"kubernetes.io/service-name", service}}}}},
                      {"ports", {{{"name", "http"}, {"port", 8000}}}},
                      {"endpoints", list}});
  }

  /// Runs the load for `duration`. Returns the base URLs of the requests in its last second.
  std::set<std::string> run_for(Duration duration) {
    const auto run_once = [this] {
      endpoints.run_once();
      bench.client.run_once();
      auto change = endpoints.take_change();
      if (!change) {
        error = change.error().text();
      } else if (*change) {
        driver.set_endpoints(std::move(**change));
      }
      driver.run();
    };
    for (Duration past{}; past < duration; past += 100ms) {
      if (past == duration - 1s) recorder.urls.clear();
      bench.server.advance(100ms, run_once);
    }
    return recorder.urls;
  }

  kube::fake::Bench bench;
  kube::ServiceEndpoints endpoints;
  workload::ListSource source;
  UrlRecorder recorder;
  emulator::LoadDriver driver;
  std::string error;
};

using Urls = std::set<std::string>;

TEST(LoadFollowsAService, SlicesAndReadinessComeAndGo) {
  Load load(1);
  load.slice("engine-a", {{"10.0.0.1", true}, {"10.0.0.2", true}});
  load.slice("other-a", {{"10.0.0.9", true}}, "other");
  EXPECT_EQ(load.run_for(2s), (Urls{"http://10.0.0.1:8000", "http://10.0.0.2:8000"}));
  load.slice("engine-b", {{"10.0.0.3", true}});
  EXPECT_EQ(load.run_for(2s), (Urls{"http://10.0.0.1:8000", "http://10.0.0.2:8000", "http://10.0.0.3:8000"}));
  load.slice("engine-a", {{"10.0.0.1", false}, {"10.0.0.2", true}});
  EXPECT_EQ(load.run_for(2s), (Urls{"http://10.0.0.2:8000", "http://10.0.0.3:8000"})) << "10.0.0.1 drains";
  load.bench.server.remove(kSlices, "llm/engine-b");
  EXPECT_EQ(load.run_for(2s), Urls{"http://10.0.0.2:8000"});
  load.bench.server.remove(kSlices, "llm/engine-a");
  EXPECT_EQ(load.run_for(2s), Urls{}) << "no address is ready, so no request is sent";
  EXPECT_EQ(load.driver.report().errors.count("no_endpoint"), 1u);
  load.slice("engine-c", {{"10.0.0.4", true}});
  EXPECT_EQ(load.run_for(2s), Urls{"http://10.0.0.4:8000"});
  EXPECT_EQ(load.error, "");
}

TEST(LoadFollowsAService, AWatchThatRestartsMissesNoChange) {
  struct Row {
    const char* name;
    void (*fault)(kube::fake::FakeServer&);
  };
  const Row rows[] = {
      {"the connection is lost", [](kube::fake::FakeServer& server) { server.drop_all(); }},
      {"the connection is lost and the server compacts its history",
       [](kube::fake::FakeServer& server) {
         server.drop_all();
         server.compact();
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Load load(2);
    load.slice("engine-a", {{"10.0.0.1", true}});
    load.slice("engine-b", {{"10.0.0.2", true}});
    load.run_for(2s);
    load.bench.server.faults.unreachable = 1'000'000;
    load.bench.server.drop_all();
    load.slice("engine-a", {{"10.0.0.1", false}});
    load.bench.server.remove(kSlices, "llm/engine-b");
    load.slice("engine-c", {{"10.0.0.3", true}});
    EXPECT_EQ(load.run_for(10s), (Urls{"http://10.0.0.1:8000", "http://10.0.0.2:8000"}))
        << "the last known addresses stay";
    row.fault(load.bench.server);
    load.bench.server.faults.unreachable = 0;
    EXPECT_EQ(load.run_for(30s), Urls{"http://10.0.0.3:8000"});
  }
}

TEST(LoadFollowsAService, RecoversFromRandomFaults) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Load load(seed);
    load.bench.server.faults = kube::fake::Faults::all(50'000);
    for (int i = 0; i < 20; ++i) {
      load.slice("engine-" + std::to_string(i % 3), {{"10.0.0." + std::to_string(i + 1), i % 4 != 0}});
      load.run_for(3s);
    }
    load.bench.server.faults = {};
    load.bench.server.drop_all();
    EXPECT_EQ(load.run_for(120s), (Urls{"http://10.0.0.19:8000", "http://10.0.0.20:8000", "http://10.0.0.18:8000"}));
  }
}

}  // namespace
}  // namespace capstan::cli
