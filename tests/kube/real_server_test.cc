// Tests the client against a real API server. tests/e2e runs it with a kubeconfig and a namespace that has a Deployment
// "engine" with zero replicas:
//   CAPSTAN_E2E_KUBECONFIG=... CAPSTAN_E2E_NAMESPACE=... kube_real_test
#include <gtest/gtest.h>

#include <cstdlib>

#include "kube/child_process.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "kube/election.h"
#include "kube/events.h"
#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/wall_clock.h"
#include "kube/watcher.h"
#include "kube/workload_views.h"
#include "net/http_client.h"

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

struct RealServerTest : testing::Test {
  void SetUp() override {
    const std::optional<std::string> path = variable("CAPSTAN_E2E_KUBECONFIG");
    if (!path) GTEST_SKIP() << "there is no server: CAPSTAN_E2E_KUBECONFIG is not set";
    ns = variable("CAPSTAN_E2E_NAMESPACE").value_or("default");
    Result<Config> config = find_config(*path, "", variable, read_file_from_disk);
    ASSERT_TRUE(config) << config.error().text();
    credentials = std::make_unique<Credentials>(std::move(*config), read_file_from_disk,
                                                std::make_unique<ChildProcess>(), machine_wall_clock());
    client = std::make_unique<Client>(http, *credentials, clock, RandomStream(1, "client"), Client::Options());
    engine = {resources::kDeployments, ns, "engine"};
  }

  template <typename View>
  std::unique_ptr<Watcher> watch(const Resource& resource, Store<View>& store, bool watch_list = true) {
    Reflector::Options options;
    options.watch_list = watch_list;
    options.page_objects = 2;  // small pages, so that there are several
    return std::make_unique<Watcher>(*client, document, Collection{resource}, store, options,
                                     RandomStream(1, resource.plural), clock);
  }

  template <typename Done>
  bool until(Done done, std::vector<Watcher*> watchers = {}) {
    const Instant end = clock() + 30s;
    while (!done() && clock() < end) {
      Instant next = client->next_deadline();
      for (Watcher* watcher : watchers) {
        watcher->run_once();
        next = std::min(next, watcher->next_deadline());
      }
      client->run_once();
      http.run_once(std::clamp(next - clock(), Duration(0ms), Duration(50ms)));
    }
    return done();
  }

  Outcome call(ApiRequest request) {
    std::optional<Outcome> outcome;
    client->call(std::move(request), [&](Outcome o) { outcome = std::move(o); });
    EXPECT_TRUE(until([&] { return outcome.has_value(); }));
    return outcome.value_or(Outcome());
  }
  std::string version_of(const std::string& body) {
    return std::string(document.parse(body).value()["metadata"]["resourceVersion"].text());
  }

  net::Clock clock = net::machine_clock();
  net::HttpClient http{clock};
  std::string ns;
  std::unique_ptr<Credentials> credentials;
  std::unique_ptr<Client> client;
  JsonDocument document;
  ObjectRef engine;
};

TEST_F(RealServerTest, DiscoversResources) {
  Discovery discovery(*client, clock);
  ASSERT_TRUE(until([&] {
    discovery.run_once();
    return discovery.known();
  }));
  for (const Resource& resource : {resources::kPods, resources::kNodes, resources::kDeployments, resources::kLeases,
                                   resources::kEvents, resources::kEndpointSlices, resources::kPodDisruptionBudgets}) {
    const ServedResource* served = discovery.served().find_exact(resource);
    ASSERT_NE(served, nullptr) << resource.name();
    EXPECT_EQ(served->resource, resource);
  }
  EXPECT_TRUE(discovery.served().find_kind("apps", "Deployment")->has_subresource("scale"));
  EXPECT_TRUE(discovery.served().find_plural("", "pods")->has_subresource("eviction"));
}

TEST_F(RealServerTest, ListsAndWatchListsGiveTheSameObjects) {
  Store<Workload> listed(read_workload);
  Store<Workload> watched(read_workload);
  const auto by_list = watch(resources::kDeployments, listed, false);
  const auto by_watch = watch(resources::kDeployments, watched, true);
  const std::vector<Watcher*> both = {by_list.get(), by_watch.get()};
  ASSERT_TRUE(until([&] { return listed.snapshot().synced && watched.snapshot().synced; }, both));
  ASSERT_NE(listed.find(ns, "engine"), nullptr);
  ASSERT_NE(watched.find(ns, "engine"), nullptr);
  EXPECT_EQ(by_watch->reflector().failures(), 0) << by_watch->reflector().last_error().text();

  // A change reaches both stores without a new list.
  const Outcome now = call(get(engine, "scale"));
  ASSERT_TRUE(now.ok()) << now.error.text();
  ASSERT_TRUE(call(scale(engine, 1, version_of(now.body))).ok());
  const auto has_one_replica = [&](const Store<Workload>& store) { return store.find(ns, "engine")->replicas == 1; };
  EXPECT_TRUE(until([&] { return has_one_replica(listed) && has_one_replica(watched); }, both));
  EXPECT_EQ(watched.find(ns, "engine")->replicas_managers.back(), kFieldManager);
  EXPECT_EQ(by_list->reflector().relists(), 0u);
  EXPECT_EQ(by_list->counters().rejected + by_watch->counters().rejected, 0u);
}

TEST_F(RealServerTest, WritesOnceAndReportsConflicts) {
  const Outcome before = call(get(engine, "scale"));
  ASSERT_TRUE(before.ok()) << before.error.text();
  const std::string old = version_of(before.body);
  EXPECT_TRUE(call(scale(engine, 3, old, DryRun::all)).ok());
  const Outcome written = call(scale(engine, 2, old));
  ASSERT_TRUE(written.ok()) << written.error.text() << ": the dry run changed something";
  const Outcome conflict = call(scale(engine, 5, old));
  EXPECT_EQ(conflict.kind, Kind::refused);
  EXPECT_TRUE(conflict.error.conflict()) << conflict.error.text();
  const std::string pause = R"([{"op":"add","path":"/spec/paused","value":true}])";
  EXPECT_TRUE(call(json_patch(engine, pause, old).value()).error.conflict());
  const Outcome missing = call(get({resources::kDeployments, ns, "missing"}));
  EXPECT_TRUE(missing.error.not_found());
  EXPECT_EQ(missing.error.reason, "NotFound");
}

TEST_F(RealServerTest, AppliesOnlyOwnFieldsAndRefusesUnknownOnes) {
  const auto body = [&](const std::string& spec) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"engine","namespace":")" + ns +
           R"(","annotations":{"capstan.dev/seen":"yes"}})" + spec + "}";
  };
  const Outcome applied = call(apply(engine, body(""), false));
  EXPECT_TRUE(applied.ok()) << applied.error.text();
  const Outcome foreign = call(apply(engine, body(R"(,"spec":{"replicas":7})"), false));
  EXPECT_EQ(foreign.kind, Kind::refused);
  EXPECT_TRUE(foreign.error.conflict()) << "another manager owns the replicas: " << foreign.error.text();
  const Outcome unknown_field = call(merge_patch(engine, R"({"spec":{"replicaz":1}})", "").value());
  EXPECT_EQ(unknown_field.kind, Kind::refused);
  EXPECT_TRUE(unknown_field.error.text().contains("replicaz")) << unknown_field.error.text();
}

TEST_F(RealServerTest, BindsAPodOnceByItsUid) {
  const ObjectRef pod{resources::kPods, ns, "lonely"};
  const Outcome created = call(create(pod, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"lonely"},"spec":{
    "schedulerName":"capstan","containers":[{"name":"c","image":"i"}]}})"));
  ASSERT_TRUE(created.ok()) << created.error.text();
  const std::string uid(document.parse(created.body).value()["metadata"]["uid"].text());
  EXPECT_TRUE(call(bind_pod(pod, {.uid = "00000000-0000-0000-0000-000000000000", .resource_version = {}}, "node-a"))
                  .error.conflict());
  EXPECT_TRUE(call(bind_pod(pod, {.uid = uid, .resource_version = "1"}, "node-a")).error.conflict());
  EXPECT_TRUE(call(bind_pod(pod, {.uid = uid, .resource_version = version_of(created.body)}, "node-a")).ok());
  EXPECT_TRUE(call(bind_pod(pod, {.uid = uid, .resource_version = {}}, "node-b")).error.conflict());
  EXPECT_TRUE(call(evict_pod(pod, {.uid = uid, .resource_version = {}}, DryRun::all)).ok());
  EXPECT_TRUE(call(remove(pod, {.uid = "another", .resource_version = {}})).error.conflict());
  EXPECT_TRUE(call(remove(pod, {.uid = uid, .resource_version = {}})).ok());
}

TEST_F(RealServerTest, AcquiresAndReleasesTheLease) {
  Election election({.lease = {resources::kLeases, ns, "capstan"}, .identity = "test"}, RandomStream(1, "election"));
  const WallClock wall = machine_wall_clock();
  bool busy = false;
  ASSERT_TRUE(until([&] {
    if (std::optional<ApiRequest> request = busy ? std::nullopt : election.poll(clock(), wall())) {
      busy = true;
      client->call(std::move(*request), [&](const Outcome& outcome) {
        busy = false;
        election.answered(outcome, clock());
      });
    }
    return election.may_write(clock());
  }));
  const std::optional<ApiRequest> release = election.release(wall());
  ASSERT_TRUE(release);
  const Outcome released = call(*release);
  ASSERT_TRUE(released.ok()) << released.error.text();
  EXPECT_EQ(read_lease(document.parse(released.body).value()).holder, "");
}

TEST_F(RealServerTest, EventsHaveASeries) {
  EventRecorder recorder({.instance = "test"});
  const EventNote note{.api_version = "apps/v1",
                       .kind = "Deployment",
                       .ns = ns,
                       .name = "engine",
                       .uid = "u",
                       .warning = false,
                       .reason = "QueueAboveTarget",
                       .action = "ScaleUp",
                       .note = "12 wait"};
  const auto send = [&] {
    const std::optional<EventRecorder::Outgoing> out = recorder.poll(clock());
    ASSERT_TRUE(out);
    const Outcome outcome = call(out->request);
    EXPECT_TRUE(outcome.ok()) << outcome.error.text();
    recorder.answered(out->id, outcome, clock());
  };
  const WallClock wall = machine_wall_clock();
  recorder.record(note, clock(), wall());
  send();
  recorder.record(note, clock(), wall());
  recorder.record(note, clock(), wall());
  send();
  EXPECT_EQ(recorder.dropped(), 0u);
}

}  // namespace
}  // namespace capstan::kube
